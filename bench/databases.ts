/** The Postgres and the Redis of the bench, and what they spend. */
import {
  makePostgresDatabase,
  type PostgresDatabase,
  startPostgres,
  startProxy,
  startRedis,
  throughProxy,
  whyNoPostgres,
  whyNoRedis,
} from "@accountlink/test-servers";
import { Effect, Exit, Scope } from "effect";
import { processorTimeOf } from "./processor_time.ts";

/** Both servers, which all contenders use, each with a database of its own. */
export interface Databases {
  readonly redisUrl: string;
  readonly makeDatabase: () => Promise<string>;
  /** Leaves the databases as they would be some time after they were filled. */
  readonly settle: () => Promise<void>;
  /** Processor time that they have used so far, in seconds; null where the system does not tell. */
  readonly processorTimes: () => DatabaseTimes;
  readonly stop: () => Promise<void>;
}

/** Seconds of processor time. */
export interface DatabaseTimes {
  readonly postgres: number | null;
  readonly redis: number | null;
}

/** Why they cannot be started here; null when they can. */
export const whyNoDatabases = async (): Promise<string | null> =>
  (await whyNoPostgres()) ?? (await whyNoRedis());

/**
 * Starts them, with the settings that they come with.
 *
 * @param latency of the network to them in each direction, in milliseconds
 */
export const startDatabases = async (latency: number): Promise<Databases> => {
  const scope = Scope.makeUnsafe();
  const run = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>): Promise<A> =>
    Effect.runPromise(Scope.provide(effect, scope));
  const postgres = await run(startPostgres({ config: ["shared_buffers = 256MB"] }));
  const redis = await run(startRedis());
  const { query } = await run(makePostgresDatabase(postgres));
  const [file] = await run(query("SELECT pg_read_file('postmaster.pid') AS text"));
  const postgresPid = Number.parseInt(String(file?.["text"]), 10);
  const redisPid = Number(/process_id:(\d+)/.exec(await run(redis.ask("INFO", "server")))?.[1]);

  /** The URL as the servers reach it. */
  const farUrl = async (url: string): Promise<string> => {
    if (latency === 0) return url;
    return throughProxy(url, await run(startProxy(Number(new URL(url).port), latency)));
  };

  const made: Array<PostgresDatabase> = [];
  return {
    redisUrl: await farUrl(redis.url),
    makeDatabase: async () => {
      const database = await run(makePostgresDatabase(postgres));
      made.push(database);
      return farUrl(database.url);
    },
    settle: async () => {
      for (const database of made) await run(database.query("VACUUM ANALYZE"));
    },
    processorTimes: () => ({
      postgres: processorTimeOf(postgresPid),
      redis: processorTimeOf(redisPid),
    }),
    stop: () => Effect.runPromise(Scope.close(scope, Exit.void)),
  };
};
