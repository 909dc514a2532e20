/**
 * How long the audit log is kept.
 */
import { Clock, Context, Effect, Layer, Schedule } from "effect";
import { warnOnce } from "../telemetry/warn_once.ts";
import { dayMs } from "../timestamp.ts";
import { AuditLog } from "./audit_log.ts";

/**
 * In milliseconds; 0 keeps entries forever.
 *
 * @example
 * ```ts
 * import { Layer } from "effect";
 *
 * // For `Layer.provide` below the services of a deployment.
 * const aYear = Layer.succeed(AuditRetention, 365 * 86_400_000);
 * ```
 */
export const AuditRetention = Context.Reference<number>("@accountlink/core/AuditRetention", {
  defaultValue: () => 400 * dayMs,
});

/** Deletes old entries every minute, until its scope closes. */
export const layer: Layer.Layer<never, never, AuditLog> = Layer.effectDiscard(
  Effect.gen(function* () {
    const log = yield* AuditLog;
    const retention = yield* AuditRetention;
    if (retention === 0) return;
    const deleteOld = yield* warnOnce(
      "Cannot delete old audit entries",
      Effect.flatMap(Clock.currentTimeMillis, (now) => log.forget(now - retention)),
    );
    yield* Effect.forkScoped(Effect.repeat(deleteOld, Schedule.spaced("1 minute")));
  }),
);
