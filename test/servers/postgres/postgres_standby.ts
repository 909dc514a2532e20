import { Effect, Schedule } from "effect";
import { startProxy } from "../tcp_proxy.ts";
import { makePostgresCluster, makeStandbyCluster } from "./postgres_cluster.ts";
import { type PostgresServer, query, runPostgres } from "./running_postgres.ts";

/** A copy of a primary that follows its writes. It is read-only until it is promoted. */
export interface PostgresStandby extends PostgresServer {
  /** Promotes the standby, and waits until it accepts writes. */
  readonly promote: Effect.Effect<void>;
}

/**
 * Starts a primary and a synchronous standby. The primary answers a COMMIT only after the standby has received it. The
 * standby connects to the primary through the proxy `replication`. All three are stopped when the scope closes or this
 * process ends.
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
