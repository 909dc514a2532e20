import { expect, it } from "vitest";
import { makeDays, makeKey } from "../test_data.ts";
import { inEnglish } from "../test_english.ts";
import { barChart, sparkline } from "./usage_charts.ts";
import { usagePage } from "./usage_routes.ts";

it("the chart stacks the counts of a day, and scales them to the axis", () => {
  const [low, high] = [makeDays(1, 1, 0), makeDays(1, 3, 1)];
  const bars = [
    ...inEnglish(barChart([...low, ...high])).matchAll(/class="(\w+)" x=".+?" y="(.+?)".*? height="(.+?)"/g),
  ];
  expect(bars.map(([, outcome, y, height]) => [outcome, Number(y), Number(height)])).toEqual([
    ["served", 75, 25],
    ["served", 25, 75],
    ["refused", 0, 25],
  ]);
});

it("the days of the chart and of the table are times, which scripts write in the reader's form", () => {
  const days = [...makeDays(1, 0, 0), ...makeDays(3, 1, 0)];
  const source = inEnglish(usagePage({ days, byKey: [], keys: [] }, { keyId: null, days: 7 }).content);
  const written = [...source.matchAll(/<time datetime="(.+?)">(.+?)<\/time>/g)];
  expect(written.map(([, day]) => day)).toEqual(written.map(([, , text]) => text));
  expect(written).toHaveLength(6);
});

it("the usage page shows the 25 busiest of many keys, and says where the others are", () => {
  const byKey = Array.from({ length: 30 }, (_, i) => ({
    key: makeKey({ name: `Bot ${i + 1}` }),
    days: makeDays(1, i, 0),
  }));
  const source = inEnglish(
    usagePage({ days: makeDays(1, 0, 0), byKey, keys: [] }, { keyId: null, days: 1 }).content,
  );
  const names = [...source.matchAll(/>(Bot \d+)<\/a>/g)].map(([, name]) => name);
  expect(names).toEqual(Array.from({ length: 25 }, (_, i) => `Bot ${30 - i}`));
  expect(source).toContain("The busiest 25 of 30 used keys. The file has all of them.");
});

it("the sparkline has a bar for each day with requests, the tallest at full height, and a label with the counts", () => {
  const [none, low, high] = [makeDays(1, 0, 0), makeDays(1, 100, 0), makeDays(1, 300, 100)];
  const { source } = sparkline([...none, ...low, ...high]);
  const bars = [...source.matchAll(/<rect x="(.+?)" y="(.+?)".*? height="(.+?)"/g)];
  expect(bars.map((bar) => bar.slice(1).map(Number))).toEqual([
    [10, 15, 5],
    [20, 0, 20],
  ]);
  expect(source).toContain('role="img" aria-label="By day, oldest first: 0; 500; 2,000"');
  expect(source).toMatch(/<\/svg>\s2,500<\/span>$/);
});
