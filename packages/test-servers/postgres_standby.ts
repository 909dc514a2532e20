/** A Postgres with a standby, for tests. */
import { Effect, Schedule } from "effect";
import { makePostgresCluster, makeStandbyCluster } from "./internal/postgres_cluster.ts";
import { type PostgresServer, query, runPostgres } from "./internal/running_postgres.ts";
import { startProxy } from "./tcp_proxy.ts";

/** A server that follows another, and only reads, until it is promoted. */
export interface PostgresStandby extends PostgresServer {
  /** Makes it one that is written to, and waits until it is. */
  readonly promote: Effect.Effect<void>;
}

/**
 * Starts a primary and a hot standby of it that is synchronous: the primary answers no COMMIT before the standby has it
 * too. The standby follows through `replication`. They are gone with the scope, or with this process.
 */
export const startPostgresWithStandby = Effect.gen(function* () {
  const config = ["synchronous_standby_names = '*'", "wal_keep_size = 1GB"];
  const cluster = yield* Effect.promise(() => makePostgresCluster({ config }));
  const replication = yield* startProxy(cluster.port);
  const standbyCluster = yield* Effect.promise(() => makeStandbyCluster(cluster, replication.port));
  const primary = yield* runPostgres(cluster);
  const follower = yield* runPostgres(standbyCluster);
  yield* untilSynchronous(primary);
  const standby: PostgresStandby = {
    ...follower,
    promote: Effect.promise(() => query(follower.urlOf("postgres"), "SELECT pg_promote()")),
  };
  return { primary, standby, replication };
});

const untilSynchronous = ({ urlOf }: PostgresServer) =>
  Effect.repeat(
    Effect.promise(() => query(urlOf("postgres"), "SELECT sync_state FROM pg_stat_replication")),
    { until: (rows) => rows[0]?.["sync_state"] === "sync", schedule: Schedule.spaced("20 millis") },
  );
