/** What is new for a log: kinds of problems, and imports that have ended. */
import type { FeedEvent } from "@accountlink/core/events";
import type { SharedProblem } from "@accountlink/core/roles";
import type { Millis } from "@accountlink/core/timestamp";
import type { NewProblem } from "./log_texts.ts";

/** An import is told when no further batch has followed for this long, or after the second time. */
export const importPause = 3_000;
const longestImport = 60_000;

/** Returns the problems by cause, with the number of members. */
export const kindsOf = (problems: ReadonlyArray<SharedProblem>) =>
  new Map(
    problems.map(({ reason, roleId, count: members, at }) => {
      const problem: NewProblem = { reason, roleId, members };
      return [`${reason} ${roleId ?? ""}`, { at, problem }];
    }),
  );

/** Whether an import goes on, whose batches are told together. */
export const isImporting = (page: ReadonlyArray<FeedEvent>, now: Millis): boolean => {
  const imports = page.filter(({ type }) => type === "links.imported");
  const [first, last] = [imports[0], imports.at(-1)];
  return (
    first !== undefined && last !== undefined && now < last.at + importPause && now < first.at + longestImport
  );
};
