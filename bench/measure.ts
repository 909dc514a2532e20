/** Measures how fast the contenders start and answer requests, one contender after the other. */
import { setTimeout } from "node:timers/promises";
import type { Contender } from "./contenders.ts";
import type { Databases } from "./databases.ts";
import type { Drive, DrivePlan } from "./drive.ts";
import type { RunningServer, startGenerator } from "./server_process.ts";
import { type Work, workloads } from "./workloads.ts";

/**
 * The result of one drive, in which the load generator sends requests to a server. `node`, `postgres`, `redis` and
 * `whole` are processor microseconds per request, or NaN if the system does not report them.
 */
export interface Measured extends Drive {
  /** Milliseconds from the start of the server to its ready line. */
  readonly startTime: number;
  /** Resident memory after the drive, in megabytes. */
  readonly memory: number;
  readonly requestsPerSecond: number;
  readonly node: number;
  readonly postgres: number;
  readonly redis: number;
  /** The sum of `node`, `postgres` and `redis`. */
  readonly whole: number;
  /** Share of a processor that the server used. If it is far below 1, the server was not the bottleneck. */
  readonly busy: number;
}

export interface Plan {
  readonly generator: ReturnType<typeof startGenerator>;
  /**
   * The loads of each round. A number is a number of connections. "half" sends requests at half of the highest rate of
   * the slowest contender. "lone" sends 50 requests a second on one connection.
   */
  readonly loads: ReadonlyArray<string>;
  readonly rounds: number;
  readonly seconds: number;
  /** Null without databases. */
  readonly databaseTimes: Databases["processorTimes"] | null;
}

/** The results of one round, by the name of the contender and then by the load. */
export type Round = Readonly<Record<string, Record<string, Measured>>>;

const connections = 32;

/**
 * How many requests `measureStarts` sends to a server that has just started, and how many milliseconds it waits before
 * these requests.
 */
const [firstRequests, settlingTime] = [5_000, 2_000];

/** Rotates the order of the contenders by the number of the round. */
const inTurn = <A>(all: ReadonlyArray<A>, round: number): ReadonlyArray<A> =>
  all.map((_, index) => all[(index + round) % all.length] as A);

/** In each round, starts each contender in turn and measures its first requests. */
export const measureStarts = async (contenders: ReadonlyArray<Contender>, plan: Plan) => {
  const load = `first ${firstRequests}`;
  const rounds: Array<Record<string, Record<string, Measured>>> = [];
  for (let round = 0; round < plan.rounds; round++) {
    const results: (typeof rounds)[number] = {};
    for (const { name, start } of inTurn(contenders, round)) {
      const server = await start(false);
      await setTimeout(settlingTime);
      const until = { requests: firstRequests };
      const how = { work: "hit", connections, rate: null, until, seed: round } as const;
      results[name] = { [load]: await driveServer(`${name}, ${load}`, server, how, plan) };
      await server.stop();
    }
    rounds.push(results);
  }
  return rounds;
};

/**
 * In each round, starts and warms all contenders anew, and measures them in turn under each load. Processes that
 * lasted for all rounds would keep what the compiler and the heap had become by chance in the first one.
 */
export const measure = async (contenders: ReadonlyArray<Contender>, work: Work, plan: Plan) => {
  const rounds: Array<Round> = [];
  for (let round = 0; round < plan.rounds; round++)
    rounds.push(await measureRound(inTurn(contenders, round), work, round, plan));
  return rounds;
};

const measureRound = async (
  contenders: ReadonlyArray<Contender>,
  work: Work,
  round: number,
  plan: Plan,
): Promise<Round> => {
  const running: Array<{ readonly name: string; readonly server: RunningServer }> = [];
  try {
    for (const { name, start } of contenders) running.push({ name, server: await start(false) });
    const until = { requests: workloads[work].warmUp };
    for (const { server } of running)
      await plan.generator.drive({ url: server.url, work, connections, rate: null, until, seed: 0 });
    const results: Record<string, Record<string, Measured>> = {};
    for (const load of plan.loads) {
      const how = {
        work,
        connections: load === "half" ? connections : load === "lone" ? 1 : Number(load),
        rate: load === "half" ? halfOf(results) : load === "lone" ? 50 : null,
        until: { seconds: plan.seconds },
        seed: round + 1,
      };
      for (const { name, server } of running)
        results[name] = {
          ...results[name],
          [load]: await driveServer(`${work} ${name}, ${load}`, server, how, plan),
        };
    }
    return results;
  } finally {
    await Promise.all(running.map(({ server }) => server.stop()));
  }
};

/**
 * Returns half of the request rate of the slowest contender. The rate of a contender is its highest rate under the
 * earlier loads of the round.
 */
const halfOf = (round: Round): number =>
  Math.min(
    ...Object.values(round).map((loads) =>
      Math.max(...Object.values(loads).map(({ requestsPerSecond }) => requestsPerSecond)),
    ),
  ) / 2;

const driveServer = async (
  title: string,
  { url, startTime, memory, processorTime }: RunningServer,
  how: Omit<DrivePlan, "url">,
  { generator, databaseTimes }: Plan,
): Promise<Measured> => {
  const spent = () => ({ node: processorTime(), ...databaseTimes?.() });
  const before = spent();
  const drive = await generator.drive({ url, ...how });
  const after = spent();
  const megabytes = (memory() ?? Number.NaN) / 2 ** 20;
  const each = (name: "node" | "postgres" | "redis") =>
    (((after[name] ?? Number.NaN) - (before[name] ?? Number.NaN)) / drive.requests) * 1e6;
  const [node, postgres, redis] = [each("node"), each("postgres"), each("redis")];
  const requestsPerSecond = drive.requests / drive.seconds;
  const busy = (node * requestsPerSecond) / 1e6;
  const whole = node + (databaseTimes === null ? 0 : postgres + redis);
  console.log(
    `  ${title}: ${requestsPerSecond.toFixed(0)} requests/s, ${node.toFixed(1)} µs (${whole.toFixed(1)} with databases), busy ${(busy * 100).toFixed(0)} %, p50 ${drive.p50.toFixed(2)} ms, p99 ${drive.p99.toFixed(2)} ms${drive.failed > 0 ? `, ${drive.failed} FAILED` : ""}`,
  );
  return { ...drive, startTime, memory: megabytes, requestsPerSecond, node, postgres, redis, whole, busy };
};
