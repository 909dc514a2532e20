/** The Postgres and the Redis of the proofs of docs/scaling.md and docs/performance.md, and what they have spent. */
import {
  makePostgresDatabase,
  type PostgresDatabase,
  type PostgresServer,
  type RedisServer,
  startPostgres,
  startRedis,
  whyNoPostgres,
  whyNoRedis,
} from "@accountlink/test-servers";
import { Effect, Exit, Scope } from "effect";
import { afterAll, beforeAll } from "vitest";
import { processorTimeOf } from "../../bench/server_process.ts";

/** Why they cannot be started here; null when they can. */
export const missing = (await whyNoPostgres()) ?? (await whyNoRedis());

/** What was spent since the servers started; times are of a processor, in microseconds. */
export interface Spent {
  readonly postgres: number;
  readonly redis: number;
  readonly scripts: number;
  readonly wal: number;
}

/**
 * Starts both before the tests of a file, and ends them after.
 *
 * @param sharedBuffers how much Postgres keeps in its own memory
 */
export const useServers = (sharedBuffers = "1GB") => {
  const scope = Scope.makeUnsafe();
  const run = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>): Promise<A> =>
    Effect.runPromise(Scope.provide(effect, scope));
  let postgres: PostgresServer;
  let redis: RedisServer;
  let administration: PostgresDatabase;
  let postgresPid = 0;

  beforeAll(async () => {
    if (missing !== null) return;
    postgres = await run(
      startPostgres({ config: [`shared_buffers = ${sharedBuffers}`, "max_wal_size = 4GB"] }),
    );
    redis = await run(startRedis());
    administration = await run(makePostgresDatabase(postgres));
    const [file] = await run(administration.query("SELECT pg_read_file('postmaster.pid') AS text"));
    postgresPid = Number.parseInt(String(file?.["text"]), 10);
  });
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)));

  const spent = async (): Promise<Spent> => {
    const stats = await run(redis.ask("INFO", "commandstats"));
    const cpu = await run(redis.ask("INFO", "cpu"));
    const [, scripts] = /cmdstat_evalsha:calls=(\d+)/.exec(stats) ?? [];
    const [, system] = /used_cpu_sys:([\d.]+)/.exec(cpu) ?? [];
    const [, user] = /used_cpu_user:([\d.]+)/.exec(cpu) ?? [];
    const [log] = await run(administration.query("SELECT pg_current_wal_lsn() - '0/0' AS bytes"));
    return {
      postgres: (processorTimeOf(postgresPid) ?? Number.NaN) * 1e6,
      redis: (Number(system) + Number(user)) * 1e6,
      scripts: Number(scripts ?? 0),
      wal: Number(log?.["bytes"]),
    };
  };

  return {
    run,
    redis: () => redis,
    makeDatabase: () => run(makePostgresDatabase(postgres)),
    spent,
    /** What the work spends, for each of `count`. */
    spentOn: async (count: number, work: () => Promise<unknown>): Promise<Spent> => {
      const before = await spent();
      await work();
      const after = await spent();
      const each = (of: keyof Spent) => (after[of] - before[of]) / count;
      return { postgres: each("postgres"), redis: each("redis"), scripts: each("scripts"), wal: each("wal") };
    },
  };
};
