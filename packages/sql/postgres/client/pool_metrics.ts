import { readMetric } from "@accountlink/core/telemetry";
import { Effect, Metric, type Scope } from "effect";

export interface PoolUsage {
  readonly inUse: number;
  readonly idle: number;
  readonly waiting: number;
}

const connections = Metric.gauge("accountlink_database_connections", {
  description: "Connections of this process to the database",
});

const waiting = Metric.gauge("accountlink_database_waiting", {
  description: "Statements and transactions that wait for a connection",
});

export const exportPoolMetrics = (usage: () => PoolUsage): Effect.Effect<void, never, Scope.Scope> =>
  Effect.all(
    [
      readMetric(Metric.withAttributes(connections, { state: "in_use" }), () => ({ value: usage().inUse })),
      readMetric(Metric.withAttributes(connections, { state: "idle" }), () => ({ value: usage().idle })),
      readMetric(waiting, () => ({ value: usage().waiting })),
    ],
    { discard: true },
  );
