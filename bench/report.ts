/** Formats results of the bench as tables of medians and ratios. */
import { type Deployment, ownName, titles } from "./contenders.ts";
import type { Measured, Round } from "./measure.ts";
import type { Work } from "./workloads.ts";

/** All rounds of a workload on a deployment. */
export interface WorkResult {
  readonly on: Deployment;
  readonly work: Work | "start";
  readonly rounds: ReadonlyArray<Round>;
}

type Measure = keyof Measured;

const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2;
};

const lowest = (values: ReadonlyArray<number>): number => Math.min(...values);

const columns: ReadonlyArray<
  readonly [title: string, measure: Measure, digits: number, summary?: typeof median]
> = [
  ["start ms", "startTime", 0],
  ["MB", "memory", 0],
  ["requests/s", "requestsPerSecond", 0],
  ["node µs", "node", 1],
  ["least", "node", 1, lowest],
  ["Postgres µs", "postgres", 1],
  ["Redis µs", "redis", 1],
  ["p50 ms", "p50", 2],
  ["p99 ms", "p99", 2],
];

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

/** Returns each pair of contender and load. */
const linesOf = ({ rounds }: WorkResult) =>
  Object.entries(rounds[0] ?? {}).flatMap(([name, loads]) =>
    Object.keys(loads).map((load) => [name, load] as const),
  );

/** Returns the values of one measure for a contender under a load, one value for each round. */
const valuesOf = ({ rounds }: WorkResult, name: string, load: string, measure: Measure) =>
  rounds.map((round) => round[name]?.[load]?.[measure] ?? Number.NaN);

/** Formats the medians of the rounds, and the least processor time of the node. */
export const tableOf = (result: WorkResult): string => {
  const { on, work } = result;
  const rows = linesOf(result).map(([name, load]) => {
    const values = columns.map(([, measure, , summary = median]) =>
      summary(valuesOf(result, name, load, measure)),
    );
    const cells = values.map((value, index) =>
      Number.isNaN(value) ? "" : value.toFixed(columns[index]?.[2]),
    );
    return [name, load, ...cells];
  });
  return `### ${titles[on]}: ${work}\n\n${table(["", "connections", ...columns.map(([head]) => head)], rows)}`;
};

/** Compares this checkout with every other contender. A ratio above 1 favors this checkout. */
export const ratiosOf = (results: ReadonlyArray<WorkResult>) =>
  results.flatMap((result) =>
    linesOf(result)
      .filter(([against]) => against !== ownName)
      .flatMap(([against, load]) =>
        (["node", "whole", "requestsPerSecond", "p50", "p99"] as const).map((measure) => {
          const [ours = [], theirs = []] = [ownName, against].map((name) =>
            valuesOf(result, name, load, measure),
          );
          const better = (own: number, other: number) =>
            measure === "requestsPerSecond" ? own / other : other / own;
          const single = ours.map((value, round) => better(value, theirs[round] as number));
          const ratio = better(median(ours), median(theirs));
          const [least, most] = [lowest(single), Math.max(...single)];
          return { on: result.on, work: result.work, load, measure, against, ratio, least, most };
        }),
      ),
  );

export const ratioTable = (ratios: ReturnType<typeof ratiosOf>): string =>
  table(
    ["ratio, above 1 if accountlink is better", "at", "against", "median", "single rounds"],
    ratios.map(({ on, work, load, measure, against, ratio, least, most }) => {
      const range = `${least.toFixed(2)} to ${most.toFixed(2)}`;
      return [`${titles[on]}: ${work}, ${measure}`, load, against, ratio.toFixed(2), range];
    }),
  );
