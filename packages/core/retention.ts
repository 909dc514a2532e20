/** Retention periods of audit entries, events and usage. Such records are deleted only because of their age. */
import { Context, Effect, Layer, Metric } from "effect";
import { SuspectStore, suspectTime } from "./alts/suspect_store.ts";
import { AuditLog } from "./audit/audit.ts";
import type { StoreUnavailable } from "./errors.ts";
import { EventStore } from "./events/event_store.ts";
import { GuildLogStore } from "./guild_log/guild_log_store.ts";
import { KeyStore } from "./keys/key_store.ts";
import { makeOldestNode, PreviewStore, RoleHistoryStore, RolePlanStore, replacedTime } from "./roles/mod.ts";
import { storageNow, sweepOldEvery } from "./storage_use.ts";
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

/** How often old records are deleted, in milliseconds. */
const sweepInterval = 600_000;

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
    const retention = yield* EventRetention;
    yield* Metric.update(keptEvents, retention / 1_000);
    const events = yield* EventStore;
    const logs = yield* GuildLogStore;
    const webhooks = yield* WebhookStore;
    // These walk through the lists and webhooks of the service, which is the work of one node.
    let sweptAt = -Infinity;
    const sweepJournal = Effect.gen(function* () {
      const now = yield* storageNow;
      if (Math.abs(now - sweptAt) < sweepInterval) return;
      const sweep = { before: now - retention, erasuresBefore: now - erasureNamedFor };
      const { oldestAt } = yield* events.sweep(sweep);
      yield* Metric.update(oldestEvent, oldestAt === null ? 0 : Math.max(0, now - oldestAt) / 1_000);
      if (auditRetention > 0) yield* log.forget(now - auditRetention);
      yield* logs.forget(now);
      yield* webhooks.sweep(now - retention);
      sweptAt = now;
    });
    yield* makeOldestNode("retention:", {
      problem: "Cannot delete old events, their deliveries, audit entries and messages of logs",
      every: 10_000,
      isInner: true,
      work: sweepJournal,
      stop: Metric.update(oldestEvent, 0),
    });
    yield* forget("revoked keys", revokedKeyRetention, (yield* KeyStore).forgetRevoked);
    yield* forget("old pairs of alts", suspectTime, (yield* SuspectStore).forget);
    yield* forget("old nicknames of members", replacedTime, (yield* RolePlanStore).forgetNicknames);
    yield* forget("old changes of roles", 0, (yield* RoleHistoryStore).forget);
    yield* forget("old previews of members", 0, (yield* PreviewStore).forget);
    yield* forget("old usage", usageRetention, (yield* UsageStore).forget);
  }),
);

const forget = (
  what: string,
  keptFor: Millis,
  forgetBefore: (time: Millis) => Effect.Effect<unknown, StoreUnavailable>,
) => sweepOldEvery(sweepInterval, `Cannot delete ${what}`, (now) => forgetBefore(now - keptFor));
