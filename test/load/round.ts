/** One round of the bench, and what it came to. */
import type { Contender } from "./contenders.ts";
import type { DatabaseTimes } from "./databases.ts";
import type { Drive, DriveKind } from "./drive.ts";
import { driveOnce } from "./server_process.ts";

/** What one round of one server came to. Costs are in microseconds; not a number where the system does not tell. */
export interface Round extends Drive {
  readonly requestsPerSecond: number;
  /** Processor time of the server for one request. It hardly notices who else uses the machine. */
  readonly cost: number;
  /** The same of the databases that it asked. */
  readonly postgres: number;
  readonly redis: number;
  /** Share of a processor that the server had. Far below 1, something else set the pace. */
  readonly load: number;
}

/** How to go about a round. */
export interface RoundPlan {
  /** How long to measure: `--amount=<requests>` or `--duration=<seconds>`. */
  readonly extent: string;
  /** What the databases have spent; null when there are none. */
  readonly databaseTimes: (() => DatabaseTimes) | null;
}

/**
 * Counted in requests: a busy machine needs longer until the runtime has compiled what it is going to compile. A bulk
 * is work for many.
 */
const warmUps: Readonly<Record<DriveKind, string>> = {
  single: "--amount=60000",
  bulk: "--amount=6000",
  spread: "--amount=60000",
};

/** Starts a server anew and measures each kind of requests. */
export const playRound = async <Kind extends DriveKind>(
  { start }: Contender,
  kinds: ReadonlyArray<Kind>,
  round: number,
  plan: RoundPlan,
): Promise<Readonly<Record<Kind, Round>>> => {
  const server = await start();
  const spent = () => ({ server: server.processorTime(), ...plan.databaseTimes?.() });
  const results: Partial<Record<Kind, Round>> = {};
  try {
    for (const kind of kinds) {
      await driveOnce(server.url, 2 * round, warmUps[kind], kind);
      const before = spent();
      const drive = await driveOnce(server.url, 2 * round + 1, plan.extent, kind);
      const after = spent();
      const used = (name: "server" | "postgres" | "redis") =>
        (after[name] ?? Number.NaN) - (before[name] ?? Number.NaN);
      const each = (name: "server" | "postgres" | "redis") => (used(name) / drive.requests) * 1e6;
      results[kind] = {
        ...drive,
        requestsPerSecond: drive.requests / drive.seconds,
        cost: each("server"),
        postgres: each("postgres"),
        redis: each("redis"),
        load: used("server") / drive.seconds,
      };
    }
    return results as Record<Kind, Round>;
  } finally {
    await server.stop();
  }
};

/** The round in a line. */
export const shown = (round: Round): string => {
  const { requestsPerSecond, cost, postgres, redis, load, p50, p99, failed } = round;
  const databases = Number.isNaN(postgres)
    ? ""
    : `Postgres ${postgres.toFixed(1)} µs  Redis ${redis.toFixed(1)} µs  `;
  return (
    `${requestsPerSecond.toFixed(0).padStart(6)} requests/s  ${cost.toFixed(1).padStart(5)} µs each  ${databases}` +
    `server at ${(load * 100).toFixed(0)} %  p50 ${p50} ms  p99 ${p99} ms${failed > 0 ? `  ${failed} FAILED` : ""}`
  );
};
