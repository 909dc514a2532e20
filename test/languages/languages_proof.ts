/** Languages may lag behind English between releases. A release needs all of them. */
import { expect, it } from "vitest";
import { english, hashesOf, notes, recordedHashes, reportOf, tags, terms } from "./report.ts";

it.each(tags)("%s has every message, none of them stale, and its terms", (tag) => {
  const report = reportOf(tag);
  expect([report?.faults, report?.missing, report?.stale]).toEqual([[], [], []]);
  expect(Object.keys(terms)).toContain(tag);
});

it("the record has every English message", () => {
  expect(recordedHashes).toEqual(hashesOf(english));
});

it("translators have a note for every message", () => {
  expect(Object.keys(notes)).toEqual(Object.keys(english));
});
