import { Option } from "effect";
import { expect, it } from "vitest";
import { formatTimestamp, parseTimestamp } from "./timestamp.ts";

const read = (text: string) => Option.getOrNull(Option.map(parseTimestamp(text), formatTimestamp));

it.each([
  ["2026-01-31", "2026-01-31T00:00:00.000Z"],
  ["2026-01-31T08:00Z", "2026-01-31T08:00:00.000Z"],
  ["2026-01-31T08:00:01.5+02:00", "2026-01-31T06:00:01.500Z"],
  ["2024-02-29T23:59:59.999999999Z", "2024-02-29T23:59:59.999Z"],
  ["2000-02-29", "2000-02-29T00:00:00.000Z"],
])("parseTimestamp reads %s", (text, time) => {
  expect(read(text)).toBe(time);
});

const noDay =
  " now 1767225600000 2026-1-1 2026-00-01 2026-13-01 2026-01-00 2026-04-31 2026-02-29 2100-02-29 +012026-01-01";
const noTime = ["24:00:00Z", "08:60Z", "08:00:00", "08:00:00+24:00"].map((time) => `2026-01-01T${time}`);

it.each([...noDay.split(" "), ...noTime, "2026-01-01 08:00:00Z"])("parseTimestamp refuses %j", (text) => {
  expect(read(text)).toBeNull();
});
