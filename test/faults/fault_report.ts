/**
 * Whether what clients were told while things broke can be true, and what it all came to.
 */
import { StorageSql } from "@accountlink/storage-sql";
import { Effect, Redacted } from "effect";
import type { Attempt } from "./attempt.ts";
import { account, type FaultRun, isRight, quiet, runFaults, type Strike } from "./fault_run.ts";
import type { Fault } from "./faults.ts";
import { checkHistory, type HistoryVerdict, wrongAnswers } from "./history_check.ts";
import { mostAdmitted, type Spending } from "./limit_spending.ts";
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
/** A node gives Redis half a second. A machine that has no time for this long may be as good as a cut. */
const longestDelay = 250;

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
    fault: faultAsSeen(strike, run),
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

/** On a slow machine, counts can be out of reach when nothing has struck them. */
const faultAsSeen = ({ fault, began, over }: Strike, run: FaultRun): Fault => {
  const isSlow = fault.counts === "in reach" && longestPulse(run, began, over, fault.victims) > longestDelay;
  return isSlow ? { ...fault, counts: "out of reach", victims: run.service.nodes } : fault;
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

const inexactnessOf = (
  { limit, window, admitted, attempts }: Spending,
  run: FaultRun,
): ReadonlyArray<string> => {
  const [from, to] = [attempts[0]?.called ?? 0, attempts.at(-1)?.ended ?? 0];
  const isExact = admitted === limit || longestPulse(run, from, to) > longestDelay;
  return isExact
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
  const delay = longestPulse(run, strike.returned, strike.over);
  if (took <= longestRecovery + delay) return [];
  const times = `${took.toFixed(0)} ms, on a machine with a delay of ${delay.toFixed(0)} ms`;
  const request =
    last === undefined
      ? "until then a node counted by itself"
      : `${last.line} to node ${last.node} was ${last.outcome.kind} after ${(last.ended - last.called).toFixed(0)} ms`;
  return [`${strike.fault.name}: recovered after ${times}: ${request}`];
};

/** How long a request took that needs no store, of those that were sent in a while and not to some nodes. */
const longestPulse = ({ pulse }: FaultRun, from: number, to: number, but: ReadonlyArray<Node> = []): number =>
  pulse
    .filter(({ called, node }) => called >= from && called < to && !but.some(({ name }) => name === node))
    .reduce((longest, { called, ended }) => Math.max(longest, ended - called), 0);

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
