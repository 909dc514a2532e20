import { expect, it } from "vitest";
import { changedKeys, dashboard, dashboardLinesOf, hashesOf, linesOf, players, terms } from "./report.ts";

const { english, notes, reportOf, tags } = players;

it.each(tags)("the report of %s has its share, its terms and its limits", (tag) => {
  const report = reportOf(tag);
  if (report === null) throw new Error(`${tag} has no file`);
  expect(report.share).toBeLessThanOrEqual(1);
  expect(report.limited.map(([key]) => key)).toContain("chat.command.verify.name");
  expect(report.limited.filter(([, length, limit]) => length > limit)).toEqual([]);
  expect(linesOf(tag, players, report).join("\n")).toContain(`${tag}: `);
});

it("the share of the dashboard counts by itself", () => {
  const report = dashboard.reportOf("de");
  if (report === null) throw new Error("de has no file");
  expect(dashboardLinesOf("de", dashboard, { ...report, share: 0.5 })[0]).toContain(
    "Dashboard in de: 50 % of ",
  );
});

it("English messages that have changed are known by the record, new and removed ones are not changed", () => {
  const recorded = hashesOf({ unlink: "Unlink", keep: "Keep", gone: "Gone" });
  expect(changedKeys(recorded, { unlink: "Remove the link", keep: "Keep", fresh: "New" })).toEqual([
    "unlink",
  ]);
});

it("a language without a file has no report", () => {
  expect(reportOf("tlh")).toBeNull();
});

it("notes name the values of their messages", () => {
  for (const [key, note] of Object.entries(notes).filter(([each]) => Object.hasOwn(english, each))) {
    const values = key.startsWith("platform.") ? [] : [...(english[key] ?? "").matchAll(/\{(\w+)[,}]/g)];
    // Words within the branch of a plural are no values.
    const named = values.map(([, name = ""]) => name).filter((name) => !/^[A-Z]/.test(name));
    for (const name of named) expect([key, note]).toEqual([key, expect.stringContaining(`{${name}}`)]);
  }
});

it("every table of terms has the terms of English", () => {
  for (const [tag, words] of Object.entries(terms)) {
    expect([tag, Object.keys(words)]).toEqual([tag, Object.keys(terms["en"] ?? {})]);
  }
});
