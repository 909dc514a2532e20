/** Retention periods of audit entries, events and usage. Such records are deleted only because of their age. */
import { Context, Effect, Layer, Metric } from "effect";
import { SuspectStore, suspectTime } from "./alts/suspect_store.ts";
import { AuditLog } from "./audit/audit.ts";
import { EventStore } from "./events/event_store.ts";
import { KeyStore } from "./keys/key_store.ts";
import { RolePlanStore, replacedTime } from "./roles/role_plan_store.ts";
import { sweepEvery } from "./telemetry/warn_once.ts";
import { dayMs, type Millis } from "./timestamp.ts";
import { UsageStore } from "./usage/usage_store.ts";
import { WebhookStore } from "./webhooks/webhook_store.ts";

/** How long the audit log is kept, in milliseconds; 0 keeps entries forever. */
export const AuditRetention = Context.Reference<number>("@accountlink/core/AuditRetention", {
  defaultValue: () => 400 * dayMs,
});

/**
 * How long events and their deliveries are kept, in milliseconds; at least a day.
 *
 * @example
 * ```ts
 * import { Layer } from "effect";
 *
 * // For `Layer.provide` below the services of a deployment.
 * const aWeek = Layer.succeed(EventRetention, 7 * 86_400_000);
 * const aYear = Layer.succeed(AuditRetention, 365 * 86_400_000);
 * ```
 */
export const EventRetention = Context.Reference<number>("@accountlink/core/EventRetention", {
  defaultValue: () => 30 * dayMs,
});

const usageRetention = 400 * dayMs;

const revokedKeyRetention = 30 * dayMs;

/** How long the event of an erasure names the erased user, in milliseconds. */
const erasureNamedFor = 7 * dayMs;

const oldestEvent = Metric.gauge("accountlink_events_oldest_seconds", {
  description: "How old the oldest event is that is kept, in seconds; 0 without events",
});

const keptEvents = Metric.gauge("accountlink_events_retention_seconds", {
  description: "How long events are kept, in seconds",
});

/** Deletes outdated records until its scope closes. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const log = yield* AuditLog;
    const auditRetention = yield* AuditRetention;
    if (auditRetention > 0) {
      const forgetEntries = (now: Millis) => log.forget(now - auditRetention);
      yield* sweepEvery("1 minute", "Cannot delete old audit entries", forgetEntries);
    }

    const retention = yield* EventRetention;
    yield* Metric.update(keptEvents, retention / 1_000);
    const events = yield* EventStore;
    const sweepEvents = Effect.fnUntraced(function* (now: Millis) {
      yield* events.sweep({ before: now - retention, erasuresBefore: now - erasureNamedFor });
      const oldest = yield* events.oldestAt();
      yield* Metric.update(oldestEvent, oldest === null ? 0 : Math.max(0, now - oldest) / 1_000);
    });
    yield* sweepEvery("1 minute", "Cannot delete old events", sweepEvents);
    const webhooks = yield* WebhookStore;
    const sweepDeliveries = (now: Millis) => webhooks.sweep(now - retention);
    yield* sweepEvery("10 minutes", "Cannot delete old deliveries of webhooks", sweepDeliveries);

    const keys = yield* KeyStore;
    const forgetKeys = (now: Millis) => keys.forgetRevoked(now - revokedKeyRetention);
    yield* sweepEvery("10 minutes", "Cannot delete revoked keys", forgetKeys);

    const suspects = yield* SuspectStore;
    const forgetSuspects = (now: Millis) => suspects.forget(now - suspectTime);
    yield* sweepEvery("10 minutes", "Cannot delete old pairs of alts", forgetSuspects);

    const plans = yield* RolePlanStore;
    const forgetNicknames = (now: Millis) => plans.forgetNicknames(now - replacedTime);
    yield* sweepEvery("10 minutes", "Cannot delete old nicknames of members", forgetNicknames);

    const usage = yield* UsageStore;
    const forgetUsage = (now: Millis) => usage.forget(now - usageRetention);
    yield* sweepEvery("10 minutes", "Cannot delete old usage", forgetUsage);
  }),
);
