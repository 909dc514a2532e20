/**
 * How long the audit log is kept.
 */
import { Clock, Context, Effect, Layer, Schedule } from "effect";
import { warnOnce } from "../internal/warn_once.ts";
import { AuditLog } from "../ports/audit_log.ts";

/** In milliseconds; 0 is for ever. */
export const AuditRetention = Context.Reference<number>("@accountlink/core/AuditRetention", {
  defaultValue: () => 400 * 86_400_000,
});

/** Forgets old entries until its scope closes. */
export const layer: Layer.Layer<never, never, AuditLog> = Layer.effectDiscard(
  Effect.gen(function* () {
    const log = yield* AuditLog;
    const retention = yield* AuditRetention;
    if (retention === 0) return;
    const forget = yield* warnOnce(
      "Audit entries that are over are not deleted",
      Effect.flatMap(Clock.currentTimeMillis, (now) => log.forget(now - retention)),
    );
    yield* Effect.forkScoped(Effect.repeat(forget, Schedule.spaced("1 minute")));
  }),
);
