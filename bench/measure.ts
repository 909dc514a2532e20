/** Measures contenders beside each other. */
import type { Contender } from "./contender.ts";
import type { DatabaseTimes } from "./databases.ts";
import type { Drive, DrivePlan } from "./drive.ts";
import type { Generator, RunningServer } from "./server_process.ts";
import { type Work, workloads } from "./workloads.ts";

/** What one drive of one server came to. Costs are in microseconds; not a number where nothing is known. */
export interface Measured extends Drive {
  readonly requestsPerSecond: number;
  /** Processor time of the server for one request. It hardly notices who else uses the machine. */
  readonly node: number;
  /** The same of the databases that it asked. */
  readonly postgres: number;
  readonly redis: number;
  /** Of all of them. */
  readonly whole: number;
  /** Share of a processor that the server had. Far below 1, something else set the pace. */
  readonly busy: number;
  /** Resident memory of the server afterwards, in megabytes. */
  readonly memory: number;
}

/**
 * A number of connections that ask as fast as they are answered, requests at half the rate that all can take, or one
 * client that asks 50 times a second.
 */
export type Load = `${number}` | "half" | "lone";

/** How the contenders of a deployment are measured. */
export interface Plan {
  readonly generator: Generator;
  readonly loads: ReadonlyArray<Load>;
  readonly rounds: number;
  readonly seconds: number;
  /** What the databases have spent; null when there are none. */
  readonly databaseTimes: (() => DatabaseTimes) | null;
}

/** By contender and load. */
export type RoundResult = ReadonlyMap<string, ReadonlyMap<Load, Measured>>;

/** How many connections share what comes at half the rate. */
const connectionsAtHalf = 32;

/** Requests per second of a client who is alone. */
const loneRate = 50;

/** Starts all contenders and warms each, and then drives each in turn with every load, for some rounds. */
export const measure = async (
  contenders: ReadonlyArray<Contender>,
  work: Work,
  plan: Plan,
): Promise<ReadonlyArray<RoundResult>> => {
  const running: Array<Running> = [];
  try {
    for (const contender of contenders) {
      const server = await contender.start({ isFirst: false });
      running.push({ ...contender, server });
      await warmUp(server, work, plan);
    }
    const rounds: Array<RoundResult> = [];
    for (let round = 0; round < plan.rounds; round++) {
      // The first is another one in each round.
      const order = running.map((_, index) => running[(index + round) % running.length] as Running);
      rounds.push(await measureRound(order, work, round, plan));
    }
    return rounds;
  } finally {
    await Promise.all(running.map(({ server }) => server.stop()));
  }
};

type Running = Contender & { readonly server: RunningServer };

const warmUpConnections = 32;

const warmUp = ({ url }: RunningServer, work: Work, { generator }: Plan) => {
  const until = { requests: workloads[work].warmUp };
  return generator.drive({ url, work, connections: warmUpConnections, rate: null, until, seed: 0 });
};

const measureRound = async (
  running: ReadonlyArray<Running>,
  work: Work,
  round: number,
  plan: Plan,
): Promise<RoundResult> => {
  const results = new Map(running.map(({ name }) => [name, new Map<Load, Measured>()]));
  const note = async ({ name, server }: Running, load: Load, rate: number | null) => {
    const connections = load === "half" ? connectionsAtHalf : load === "lone" ? 1 : Number(load);
    const until = { seconds: plan.seconds };
    const measured = await driveServer(server, { work, connections, rate, until, seed: round + 1 }, plan);
    results.get(name)?.set(load, measured);
    console.log(`  ${work} ${name}, ${load}: ${lineOf(measured)}`);
  };
  console.log(`  round ${round + 1}, in which a bare loop takes ${bareLoop().toFixed(0)} ms`);
  for (const load of plan.loads) {
    if (load === "half" || load === "lone") continue;
    for (const one of running) await note(one, load, null);
  }
  const servers = running.filter(({ isAlike }) => isAlike);
  if (plan.loads.includes("half")) {
    const rate = Math.min(...servers.map(({ name }) => capacityOf(results.get(name)))) / 2;
    for (const one of servers) await note(one, "half", rate);
  }
  if (plan.loads.includes("lone")) for (const one of servers) await note(one, "lone", loneRate);
  return results;
};

/** The time of work that is always the same, in milliseconds: it tells of others who use the machine. */
const bareLoop = (): number => {
  const started = performance.now();
  let left = 1e8;
  while (left > 0) left--;
  return performance.now() - started;
};

const capacityOf = (results: ReadonlyMap<Load, Measured> | undefined): number =>
  Math.max(
    ...[...(results ?? new Map<Load, Measured>()).values()].map(({ requestsPerSecond }) => requestsPerSecond),
  );

/** Drives a server once. */
export const driveServer = async (
  server: RunningServer,
  how: Omit<DrivePlan, "url">,
  { generator, databaseTimes }: Pick<Plan, "generator" | "databaseTimes">,
): Promise<Measured> => {
  const spent = () => ({ node: server.processorTime(), ...databaseTimes?.() });
  const before = spent();
  const drive = await generator.drive({ url: server.url, ...how });
  const after = spent();
  const used = (name: "node" | "postgres" | "redis") =>
    (after[name] ?? Number.NaN) - (before[name] ?? Number.NaN);
  const each = (name: "node" | "postgres" | "redis") => (used(name) / drive.requests) * 1e6;
  return {
    ...drive,
    requestsPerSecond: drive.requests / drive.seconds,
    node: each("node"),
    postgres: each("postgres"),
    redis: each("redis"),
    whole: databaseTimes === null ? each("node") : each("node") + each("postgres") + each("redis"),
    busy: used("node") / drive.seconds,
    memory: (server.memory() ?? Number.NaN) / 2 ** 20,
  };
};

export const lineOf = ({ requestsPerSecond, whole, node, busy, p50, p99, failed }: Measured): string =>
  [
    `${requestsPerSecond.toFixed(0)} requests/s`,
    `${node.toFixed(1)} µs (${whole.toFixed(1)} with databases)`,
    `busy ${(busy * 100).toFixed(0)} %`,
    `p50 ${p50.toFixed(2)} ms`,
    `p99 ${p99.toFixed(2)} ms`,
    ...(failed > 0 ? [`${failed} FAILED`] : []),
  ].join(", ");
