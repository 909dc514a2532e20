/** How the connections to Postgres are used, as metrics. */
import { readMetric } from "@accountlink/core";
import { Effect, Metric, type Scope } from "effect";

/** How many connections and how many who want one there are. */
export interface PoolUse {
  readonly inUse: number;
  readonly idle: number;
  readonly waiting: number;
}

/** Connections by `state`: `in_use` or `idle`. */
const connections = Metric.gauge("accountlink_database_connections", {
  description: "Connections of this process to the database",
});

const waiting = Metric.gauge("accountlink_database_waiting", {
  description: "Statements and transactions that wait for a connection",
});

/** Exports how a pool is used, until the scope closes. */
export const exportPoolUse = (use: () => PoolUse): Effect.Effect<void, never, Scope.Scope> =>
  Effect.all(
    [
      readMetric(Metric.withAttributes(connections, { state: "in_use" }), () => ({ value: use().inUse })),
      readMetric(Metric.withAttributes(connections, { state: "idle" }), () => ({ value: use().idle })),
      readMetric(waiting, () => ({ value: use().waiting })),
    ],
    { discard: true },
  );
