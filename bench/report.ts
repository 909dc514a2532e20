/** What the bench measured, as tables and ratios. */
import { besideName, type Deployment, deployments, ownName, titles, transactionName } from "./contenders.ts";
import type { Load, Measured, RoundResult } from "./measure.ts";
import { firstRequests, type Start, type StartRound } from "./starts.ts";
import { bulkSize, type Work, workloads } from "./workloads.ts";

/** All rounds of a workload on a deployment. */
export interface WorkResult {
  readonly on: Deployment;
  readonly work: Work;
  readonly rounds: ReadonlyArray<RoundResult>;
}

type Measure = Exclude<keyof Measured, "requests" | "seconds" | "failed">;

const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2;
};

const columns: ReadonlyArray<readonly [title: string, measure: Measure, digits: number]> = [
  ["requests/s", "requestsPerSecond", 0],
  ["node µs", "node", 1],
  ["Postgres µs", "postgres", 1],
  ["Redis µs", "redis", 1],
  ["p50 ms", "p50", 2],
  ["p99 ms", "p99", 2],
  ["MB", "memory", 0],
];

const row = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`;

const shown = (value: number, digits: number): string => (Number.isNaN(value) ? "" : value.toFixed(digits));

const medianOf = ({ rounds }: WorkResult, name: string, load: Load, measure: Measure): number =>
  median(rounds.map((round) => round.get(name)?.get(load)?.[measure] ?? Number.NaN));

/** Medians of the rounds. */
export const tableOf = (result: WorkResult): string => {
  const own = columns.filter(
    ([, measure]) => result.on === "shared" || !["postgres", "redis"].includes(measure),
  );
  const lines = [...(result.rounds[0] ?? [])].flatMap(([name, loads]) =>
    [...loads.keys()].map((load) =>
      row([
        name,
        load,
        ...own.map(([, measure, digits]) => shown(medianOf(result, name, load, measure), digits)),
      ]),
    ),
  );
  return [
    `### ${titles[result.on]}: ${workloads[result.work].title}`,
    "",
    row(["", "connections", ...own.map(([title]) => title)]),
    row(["", "", ...own.map(() => "")].map(() => "---")),
    ...lines,
  ].join("\n");
};

const startColumns: ReadonlyArray<readonly [title: string, measure: keyof Start, digits: number]> = [
  ["start ms", "startTime", 0],
  ["MB idle", "idleMemory", 0],
  ["requests/s", "requestsPerSecond", 0],
  ["node µs", "node", 1],
  ["p50 ms", "p50", 2],
  ["p99 ms", "p99", 2],
];

/** Medians of the starts. */
export const startTable = (on: Deployment, rounds: ReadonlyArray<StartRound>): string =>
  [
    `### ${titles[on]}: the start, and the first ${firstRequests} of ${workloads.hit.title}`,
    "",
    row(["", ...startColumns.map(([title]) => title)]),
    row(["", ...startColumns.map(() => "")].map(() => "---")),
    ...[...(rounds[0] ?? new Map<string, Start>()).keys()].map((name) =>
      row([
        name,
        ...startColumns.map(([, measure, digits]) =>
          shown(median(rounds.map((round) => round.get(name)?.[measure] ?? Number.NaN)), digits),
        ),
      ]),
    ),
  ].join("\n");

/** A target: how many times better ours has to be. */
interface Target {
  /** Ours when left out. */
  readonly of?: string;
  readonly on: Deployment;
  readonly work: Work;
  readonly load: Load;
  readonly measure: Measure;
  readonly against: string;
  readonly atLeast: number;
}

const hit = { work: "hit", load: "32", against: "fastify" } as const;

const targets: ReadonlyArray<Target> = [
  { ...hit, on: "embedded", measure: "node", atLeast: 1.25 },
  { ...hit, on: "embedded", measure: "node", against: "http", atLeast: 0.65 },
  { ...hit, on: "embedded", measure: "requestsPerSecond", atLeast: 1.2 },
  { ...hit, on: "shared", measure: "node", atLeast: 2 },
  { ...hit, on: "shared", load: "1", measure: "p50", atLeast: 1.1 },
  { ...hit, on: "shared", load: "1", measure: "node", atLeast: 1 },
  { ...hit, on: "shared", load: "lone", measure: "p50", atLeast: 1 },
  ...(
    [
      ["fetch on Bun", 1.2],
      ["fetch on Deno", 1],
      ["fetch on Node", 0.75],
    ] as const
  ).map(([of, atLeast]) => ({ ...hit, of, on: "embedded" as const, measure: "node" as const, atLeast })),
  { ...hit, on: "shared", measure: "whole", atLeast: 1.6 },
  ...(["embedded", "shared"] as const).flatMap((on) =>
    (["half", "32"] as const).map((load) => ({ ...hit, on, load, measure: "p99" as const, atLeast: 1 })),
  ),
  { ...hit, on: "embedded", work: "bulk", measure: "node", atLeast: 1 },
  { ...hit, on: "shared", work: "bulk", measure: "node", atLeast: 1 },
  { on: "shared", work: "patch", load: "1", measure: "p50", against: transactionName, atLeast: 0.77 },
  {
    on: "shared",
    work: "patch",
    load: "32",
    measure: "requestsPerSecond",
    against: transactionName,
    atLeast: 0.8,
  },
];

export interface Ratio extends Target {
  readonly ratio: number;
  /** In single rounds. */
  readonly least: number;
  readonly most: number;
}

/** Above 1 where ours is the better one. */
const better = (measure: Measure, ours: number, theirs: number): number =>
  measure === "requestsPerSecond" ? ours / theirs : theirs / ours;

const ratioOf = (result: WorkResult, target: Target): Ratio => {
  const { of = ownName, load, measure, against } = target;
  const single = result.rounds.map((round) =>
    better(
      measure,
      round.get(of)?.get(load)?.[measure] ?? Number.NaN,
      round.get(against)?.get(load)?.[measure] ?? Number.NaN,
    ),
  );
  const [ours, theirs] = [of, against].map((name) => medianOf(result, name, load, measure)) as [
    number,
    number,
  ];
  return {
    ...target,
    ratio: better(measure, ours, theirs),
    least: Math.min(...single),
    most: Math.max(...single),
  };
};

/** Of what was measured; with another checkout, of each load of it too. */
export const ratiosOf = (results: ReadonlyArray<WorkResult>): ReadonlyArray<Ratio> =>
  results.flatMap((result) => {
    const { on, work } = result;
    const loads = [...(result.rounds[0]?.get(besideName)?.keys() ?? [])];
    const besides = loads.flatMap((load) =>
      (["node", "whole", "requestsPerSecond", "p99"] as const)
        .filter((measure) => on === "shared" || measure !== "whole")
        .map((measure) => ({ on, work, load, measure, against: besideName, atLeast: 0 })),
    );
    return [...targets.filter((target) => target.on === on && target.work === work), ...besides]
      .map((target) => ratioOf(result, target))
      .filter(({ ratio }) => !Number.isNaN(ratio));
  });

const measureTitles: Readonly<Record<Measure, string>> = {
  requestsPerSecond: "requests/s",
  node: "processor time of the node",
  whole: "processor time with its databases",
  postgres: "processor time of Postgres",
  redis: "processor time of Redis",
  p50: "p50",
  p99: "p99",
  busy: "load",
  memory: "memory",
};

export const ratioTable = (ratios: ReadonlyArray<Ratio>): string =>
  [
    row(["ratio, above 1 where ours is better", "at", "against", "ratio", "single rounds", "at least"]),
    row(Array(6).fill("---")),
    ...ratios.map(({ of, on, work, load, measure, against, ratio, least, most, atLeast }) =>
      row([
        `${titles[on]}${of === undefined ? "" : `, ${of}`}: ${workloads[work].title}, ${measureTitles[measure]}`,
        load,
        against,
        ratio.toFixed(2),
        `${least.toFixed(2)} to ${most.toFixed(2)}`,
        atLeast === 0 ? "" : atLeast.toFixed(2),
      ]),
    ),
  ].join("\n");

/** What an ID of a bulk request costs, where that was measured. */
export const bulkLine = (results: ReadonlyArray<WorkResult>): string =>
  deployments
    .flatMap((on) => results.filter((result) => result.on === on && result.work === "bulk"))
    .map((result) => {
      const cost = medianOf(result, ownName, "32", "node") / bulkSize;
      return `${titles[result.on]}: an ID of a bulk request costs the node ${cost.toFixed(2)} µs`;
    })
    .join("\n");

/** All of it as JSON values. */
export const resultsAsJson = (results: ReadonlyArray<WorkResult>) =>
  results.map(({ on, work, rounds }) => ({
    on,
    work,
    rounds: rounds.map((round) =>
      Object.fromEntries([...round].map(([name, loads]) => [name, Object.fromEntries(loads)])),
    ),
  }));
