/** Languages may lag behind English between releases. A release needs all of them. */
import { expect, it } from "vitest";
import { dashboard, players, terms } from "./report.ts";

it.each(players.tags)("%s has every message, none of them stale, and its terms", (tag) => {
  const report = players.reportOf(tag);
  expect([report?.faults, report?.missing, report?.stale]).toEqual([[], [], []]);
  expect(Object.keys(terms)).toContain(tag);
});

it.each(dashboard.tags)("the dashboard in %s has every message, and none of them is stale", (tag) => {
  const report = dashboard.reportOf(tag);
  expect([report?.faults, report?.missing, report?.stale]).toEqual([[], [], []]);
});

it.each([players, dashboard])("the record is of the English messages", ({ isRecorded }) => {
  expect(isRecorded()).toBe(true);
});

it("translators have a note for every message", () => {
  expect(Object.keys(players.notes)).toEqual(Object.keys(players.english));
});
