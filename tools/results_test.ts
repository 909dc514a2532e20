import { expect, test } from "vitest";
import { resultsOfFiles } from "./results.ts";

const file = (name: string, passed: number, ...failures: ReadonlyArray<string>) => {
  return { project: "node", file: name, passed, failed: failures.length, skipped: 1, failures };
};

test("a file that is run again counts as it ended, and what failed at first is named", () => {
  const first = [file("a", 3), file("b", 1, "b: one", "b: two"), file("c", 0, "c: ")];
  expect(resultsOfFiles(first)).toMatchObject({ passed: 4, failed: 3, flaky: [] });
  expect(resultsOfFiles(first, [file("b", 2, "b: two"), file("c", 5)])).toEqual({
    passed: 10,
    failed: 1,
    skipped: 3,
    failures: ["b: two"],
    flaky: ["b: one", "c: "],
  });
});
