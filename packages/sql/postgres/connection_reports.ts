/** What operators see of the connections: metrics, and the log of outages. */
import { readMetric } from "@accountlink/core/telemetry";
import type { Turns } from "@accountlink/core/turns";
import { Effect, Metric, Pool } from "effect";
import type { SqlError } from "effect/sql";

/** Logs the start and the end of an outage once, as Redis does. */
export const outageLog = () => {
  let isReached: boolean | undefined;
  return <A, R>(open: Effect.Effect<A, SqlError.SqlError, R>): Effect.Effect<A, SqlError.SqlError, R> =>
    open.pipe(
      Effect.tapError(({ message }) => {
        if (isReached !== true) return Effect.void;
        isReached = false;
        return Effect.annotateLogs(Effect.logWarning("Postgres cannot be reached"), { reason: message });
      }),
      Effect.tap(() => {
        const wasLost = isReached === false;
        isReached = true;
        return wasLost ? Effect.logInfo("Postgres is reachable again") : Effect.void;
      }),
    );
};

const connections = Metric.gauge("accountlink_database_connections", {
  description: "Connections of this process to the database",
});

const waiting = Metric.gauge("accountlink_database_waiting", {
  description: "Statements and transactions that wait for a connection",
});

const metrics = {
  used: Metric.withAttributes(connections, { state: "in_use" }),
  idle: Metric.withAttributes(connections, { state: "idle" }),
  pending: waiting,
};

export const exportMetrics = <A, E>(pools: ReadonlyArray<Pool.Pool<A, E>>, turns: Turns) =>
  Effect.forEach(["used", "idle", "pending"] as const, (name) =>
    readMetric(metrics[name], () => ({
      value: pools.reduce(
        (sum, pool) => sum + Effect.runSync(Pool.stats(pool))[name],
        name === "pending" ? turns.waiting : 0,
      ),
    })),
  );
