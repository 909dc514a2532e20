/**
 * Whether what clients were told while things broke can be true, and what it all came to.
 */
import { StorageSql } from "@accountlink/storage-sql";
import { Effect, Redacted } from "effect";
import type { Attempt } from "./attempt.ts";
import { account, type FaultRun, isRight, quiet, runFaults, type Strike } from "./fault_run.ts";
import type { Fault } from "./faults.ts";
import { checkHistory, type HistoryVerdict, wrongAnswers } from "./history_check.ts";
import { mostAdmitted } from "./limit_spending.ts";
import { longestPulse } from "./pulse.ts";
import type { Node } from "./service.ts";

/** What a run came to. The problems are lines of text; a service that keeps its promises has none. */
export interface FaultReport extends HistoryVerdict {
  readonly seed: string;
  readonly requests: number;
  readonly writes: number;
  readonly reads: number;
  /** Writes and reads with an answer that was checked. */
  readonly answered: number;
  readonly unavailable: number;
  readonly broken: number;
  /** By kind: how many there were, requests that were answered 503 meanwhile, the longest recovery in milliseconds. */
  readonly faults: Readonly<Record<string, readonly [times: number, unavailable: number, recovery: number]>>;
  /** How many more than the limit were admitted at most, by what became of the counts. In reach, any is a problem. */
  readonly excess: Readonly<Record<Fault["counts"], number>>;
  /** In milliseconds, over all faults. */
  readonly recovery: { readonly median: number; readonly max: number };
}

const longestRecovery = 2_000;

/**
 * Breaks things for some seconds and reports on it. With the seed of a report in ACCOUNTLINK_TEST_SEED the same faults
 * and requests come again.
 */
export const testFaults = (seconds: number): Promise<FaultReport> => {
  const seed = process.env["ACCOUNTLINK_TEST_SEED"] ?? String(Date.now());
  return Effect.runPromise(Effect.scoped(Effect.flatMap(runFaults({ seconds, seed }), reportOn)));
};

/** Checks all that a run remembers. */
const reportOn = Effect.fnUntraced(function* (run: FaultRun) {
  const { entries, strikes } = run;
  const spent = strikes.flatMap(({ spending }) => spending.attempts);
  const attempts = [...entries, ...spent];
  const url = Redacted.make(run.service.postgres.urlOf("postgres"));
  const verdict = yield* checkHistory(entries, account, StorageSql.layerPostgres({ url }));
  const judged = strikes.map((strike) => ({
    spending: strike.spending,
    fault: faultAsSeen(strike.fault, strike.alone),
  }));
  const recoveries = strikes.map((strike) => recoveryAfter(strike, attempts));
  const count = (isCounted: (attempt: Attempt) => boolean) => attempts.filter(isCounted).length;

  const report: FaultReport = {
    seed: run.seed,
    ...verdict,
    requests: attempts.length,
    writes: entries.filter(({ request }) => request.write !== undefined).length,
    reads: entries.filter(({ request }) => request.write === undefined).length,
    answered: entries.filter(({ found }) => found !== null).length,
    unavailable: count(({ outcome }) => outcome.kind === "unavailable"),
    broken: count(({ outcome }) => outcome.kind === "broken"),
    faults: byKind(recoveries, attempts),
    excess: {
      "in reach": largestExcess(judged, "in reach"),
      "out of reach": largestExcess(judged, "out of reach"),
      lost: largestExcess(judged, "lost"),
    },
    recovery: summary(recoveries.map(({ took }) => took)),
    problems: [
      ...verdict.problems,
      ...judged.flatMap((each) => overrunOf(each, run)),
      ...run.peaceful.flatMap((spending) => inexactnessOf(spending, run)),
      ...wrongAnswers(spent),
      ...recoveries.flatMap((recovery) => slownessOf(recovery, run)),
      ...wrongAnswers(run.pulse),
    ],
  };
  return report;
});

/** What was spent around a fault. */
type Judged = Pick<Strike, "fault" | "spending">;

/** What could not reach Redis was struck, whatever was broken: a frozen node, or one without processor time. */
const faultAsSeen = (fault: Fault, alone: ReadonlyArray<Node>): Fault => {
  if (alone.length === 0) return fault;
  if (fault.counts === "in reach") return { ...fault, counts: "out of reach", victims: alone };
  return { ...fault, victims: [...new Set([...fault.victims, ...alone])] };
};

const largestExcess = (judged: ReadonlyArray<Judged>, counts: Fault["counts"]): number =>
  judged
    .filter(({ fault }) => fault.counts === counts)
    .reduce((largest, { spending }) => Math.max(largest, spending.admitted - spending.limit), 0);

const overrunOf = ({ fault, spending }: Judged, { service }: FaultRun): ReadonlyArray<string> => {
  const most = mostAdmitted(spending, fault, service.nodes);
  const { limit, window, admitted, uncertain } = spending;
  const told = `${fault.name}: of ${limit} requests per ${window}, ${admitted} were admitted, and perhaps ${uncertain} more`;
  if (admitted > most) return [`${told}, expected ${most} at most`];
  const isShort = fault.counts === "in reach" && admitted + uncertain < limit;
  return isShort ? [`${told}, expected all`] : [];
};

/** Nothing is broken, and every limit exact, unless a node could not reach Redis. */
const inexactnessOf = (
  { spending, alone }: FaultRun["peaceful"][number],
  run: FaultRun,
): ReadonlyArray<string> => {
  if (alone.length > 0) {
    const fault = { name: "Redis out of reach", counts: "out of reach", victims: alone } as const;
    return overrunOf({ spending, fault: { ...fault, begin: Effect.void, end: Effect.void } }, run);
  }
  const { limit, window, admitted } = spending;
  return admitted === limit
    ? []
    : [`While nothing failed: of ${limit} requests per ${window}, ${admitted} were admitted`];
};

interface Recovery {
  readonly strike: Strike;
  /** The last request that was under way or sent after the fault, and was not answered well and in time. */
  readonly last: Attempt | undefined;
  /** How long after the fault it ended, and all nodes counted the limits together. */
  readonly took: number;
}

const recoveryAfter = (strike: Strike, attempts: ReadonlyArray<Attempt>): Recovery => {
  const { returned, over } = strike;
  const last = attempts
    .filter(({ called, ended }) => ended >= returned && called < over)
    // What was just sent when the next fault struck is that one's victim.
    .filter(({ called, ended }) => ended <= over || called < over - quiet)
    .filter((attempt) => !isRight(attempt) || attempt.ended - attempt.called > longestRecovery)
    .toSorted((one, other) => one.ended - other.ended)
    .at(-1);
  return { strike, last, took: Math.max(last?.ended ?? 0, strike.together) - returned };
};

/** What took too long. What a request that needs no store took is the machine's time, not the service's. */
const slownessOf = ({ strike, last, took }: Recovery, run: FaultRun): ReadonlyArray<string> => {
  const delay = longestPulse(run.pulse, strike.returned, strike.over);
  if (took <= longestRecovery + delay) return [];
  const times = `${took.toFixed(0)} ms, on a machine with a delay of ${delay.toFixed(0)} ms`;
  const request =
    last === undefined
      ? "until then a node counted by itself"
      : `${last.line} to node ${last.node} was ${last.outcome.kind} after ${(last.ended - last.called).toFixed(0)} ms`;
  return [`${strike.fault.name}: recovered after ${times}: ${request}`];
};

const summary = (values: ReadonlyArray<number>) => {
  const sorted = values.toSorted((one, other) => one - other).map(Math.round);
  return { median: sorted[Math.floor(sorted.length / 2)] ?? 0, max: sorted.at(-1) ?? 0 };
};

const isAround = ({ called }: Attempt, { began, over }: Strike): boolean => called >= began && called < over;

const byKind = (
  recoveries: ReadonlyArray<Recovery>,
  attempts: ReadonlyArray<Attempt>,
): FaultReport["faults"] => {
  return Object.fromEntries(
    Object.entries(Object.groupBy(recoveries, ({ strike }) => strike.fault.name)).map(([name, all = []]) => {
      const unavailable = all.flatMap(({ strike }) =>
        attempts.filter((each) => each.outcome.kind === "unavailable" && isAround(each, strike)),
      );
      return [name, [all.length, unavailable.length, Math.round(Math.max(...all.map(({ took }) => took)))]];
    }),
  );
};
