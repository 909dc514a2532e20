/** The Postgres and the Redis of the bench, and their processor time. */
import * as Servers from "@accountlink/test-servers";
import { Effect, Exit, Scope } from "effect";
import { processorTimeOf } from "./server_process.ts";

export type Databases = Awaited<ReturnType<typeof startDatabases>>;

/** Why Postgres or Redis cannot start here; null if both can. */
export const whyNoDatabases = async (): Promise<string | null> =>
  (await Servers.whyNoPostgres()) ?? (await Servers.whyNoRedis());

/**
 * Starts Postgres and Redis with the settings of tests: Postgres does not sync its files to disk.
 *
 * @param latency network latency in each direction, in milliseconds
 */
export const startDatabases = async (latency: number) => {
  const scope = Scope.makeUnsafe();
  const run = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>): Promise<A> =>
    Effect.runPromise(Scope.provide(effect, scope));
  const postgres = await run(Servers.startPostgres({ config: ["shared_buffers = 256MB"] }));
  const redis = await run(Servers.startRedis());
  const { query } = await run(Servers.makePostgresDatabase(postgres));
  const [file] = await run(query("SELECT pg_read_file('postmaster.pid') AS text"));
  const postgresPid = Number.parseInt(String(file?.["text"]), 10);
  const redisPid = Number(/process_id:(\d+)/.exec(await run(redis.ask("INFO", "server")))?.[1]);

  /** Returns the URL of a proxy that delays all data by `latency`; if `latency` is 0, returns the given URL. */
  const farUrl = async (url: string): Promise<string> =>
    latency === 0
      ? url
      : Servers.throughProxy(url, await run(Servers.startProxy(Number(new URL(url).port), latency)));

  const made: Array<Servers.PostgresDatabase> = [];
  return {
    redisUrl: await farUrl(redis.url),
    makeDatabase: async (): Promise<string> => {
      const database = await run(Servers.makePostgresDatabase(postgres));
      made.push(database);
      return farUrl(database.url);
    },
    /** Cleans up and analyzes the databases, as Postgres itself does some time after they were filled. */
    settle: async () => {
      for (const database of made) await run(database.query("VACUUM ANALYZE"));
    },
    /** Processor time used so far, in seconds; null if the system does not report it. */
    processorTimes: () => ({ postgres: processorTimeOf(postgresPid), redis: processorTimeOf(redisPid) }),
    stop: () => Effect.runPromise(Scope.close(scope, Exit.void)),
  };
};
