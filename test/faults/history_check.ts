/**
 * Whether a history can be true: by itself, and held against the audit log.
 */
import type { AuditLog } from "@accountlink/core";
import { Effect, type Layer } from "effect";
import { textOf } from "../support/http.ts";
import type { Attempt } from "./attempt.ts";
import { checkEntries } from "./audit_check.ts";
import { entriesAfter, play, type Replay, stateOf } from "./audit_replay.ts";
import { chatIds, type Entry, operationsOn, writesOf } from "./history.ts";
import { describeHistory, findContradiction } from "./linearizability.ts";

/** What is wrong with a history. The problems are lines of text; there are none if it can be true. */
export interface HistoryVerdict {
  readonly staleReads: number;
  readonly lostWrites: number;
  /** Writes without an answer that were stored all the same. */
  readonly recovered: number;
  readonly problems: ReadonlyArray<string>;
}

/**
 * Checks a history, of which the last requests should have read everything.
 *
 * @param account whose key it was made with
 * @param stores those that the servers used
 */
export const checkHistory = Effect.fnUntraced(function* (
  entries: ReadonlyArray<Entry>,
  account: string,
  stores: Layer.Layer<AuditLog, unknown>,
) {
  const contradictions = chatIds.flatMap((chatId) => {
    const part = findContradiction(operationsOn(entries, chatId), null);
    if (part === null) return [];
    return [
      { isRead: part.at(-1)?.wrote === undefined, problem: `Chat user ${chatId}:\n${describeHistory(part)}` },
    ];
  });
  const audit = yield* checkAudit(entries, account, stores);
  const staleReads = contradictions.filter(({ isRead }) => isRead).length;
  const verdict: HistoryVerdict = {
    staleReads,
    lostWrites: contradictions.length - staleReads + audit.problems.length,
    recovered: audit.recovered,
    problems: [...contradictions.map(({ problem }) => problem), ...audit.problems, ...wrongAnswers(entries)],
  };
  return verdict;
});

/** Plays the audit log and holds it against every answer to a write, and against every version that was told. */
const checkAudit = Effect.fnUntraced(function* (
  entries: ReadonlyArray<Entry>,
  account: string,
  stores: Layer.Layer<AuditLog, unknown>,
) {
  const all = yield* Effect.promise(() => entriesAfter(stores, account, 0));
  // What the fixture brought was no request.
  const log = all.filter(({ requestId }) => requestId !== null);
  const problems: Array<string> = [];
  const attemptTo = <A>(check: () => A): A | null => {
    try {
      return check();
    } catch (error) {
      problems.push(`Audit log: ${error instanceof Error ? error.message : String(error)}`);
      return null;
    }
  };

  const recovered = attemptTo(() => checkEntries(writesOf(entries), log)) ?? 0;
  const played = attemptTo(() => {
    const replay: Replay = new Map();
    return log.map((entry) => {
      play(replay, entry);
      const chatId = String(entry.details["chatId"]);
      const { gameId, version } = stateOf(replay, chatId);
      return `${chatId} with ${gameId} in version ${version}`;
    });
  });
  const versions = new Set(played);
  const unknown = entries.flatMap(statusTold).filter((status) => !versions.has(status));
  if (played !== null && unknown.length > 0) {
    problems.push(`Audit log: ${unknown.length} links that were told are not in it, such as ${unknown[0]}`);
  }
  return { recovered, problems };
});

/** The link that an answer told with its version. */
const statusTold = ({ line, outcome }: Entry) => {
  if (outcome.kind !== "answered" || !line.startsWith("GET /v2/verifications")) return [];
  const { chatId, gameId, linked, linkVersion } = (outcome.answer.body["data"] ?? {}) as Record<
    string,
    unknown
  >;
  return linked === true
    ? [`${textOf(chatId)} with ${textOf(gameId)} in version ${Number(linkVersion)}`]
    : [];
};

/** What no client should see, each once. */
export const wrongAnswers = (attempts: ReadonlyArray<Attempt>): ReadonlyArray<string> => {
  const wrong = attempts.flatMap((each) =>
    each.outcome.kind === "wrong" ? [{ ...each, problem: each.outcome.problem }] : [],
  );
  const byProblem = Object.groupBy(wrong, ({ line, problem }) => `${line.split("?")[0]}: ${problem}`);
  return Object.entries(byProblem).map(([problem, all = []]) => {
    const [{ node, called, ended } = { node: "", called: 0, ended: 0 }] = all;
    return `${problem} (${all.length} times, first of node ${node}, ${called.toFixed(0)} to ${ended.toFixed(0)})`;
  });
};
