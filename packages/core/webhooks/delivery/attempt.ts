/** One attempt to deliver an event, according to Standard Webhooks 1.0. */
import { Clock, Effect } from "effect";
import { guildOf } from "../../data_scope.ts";
import { Secrets } from "../../secrets/secrets.ts";
import { formatTimestamp, type Millis } from "../../timestamp.ts";
import { nextAttemptAt } from "../retry_schedule.ts";
import type { DeliveryError, StoredWebhook } from "../webhook.ts";
import { WebhookSender } from "../webhook_sender.ts";
import type { StoredDelivery } from "../webhook_store.ts";

/**
 * The sent part of an event from the feed or of a test event.
 *
 * @internal
 */
export interface SentEvent {
  readonly id: string;
  readonly type: string;
  readonly at: Millis;
  readonly data: object;
}

/**
 * The result of an attempt.
 *
 * @internal
 */
export interface AttemptResult {
  /** Null if there was no answer. */
  readonly status: number | null;
  /** Null for a success. */
  readonly error: DeliveryError | null;
  /** The receiver's requested delay in milliseconds, or null. */
  readonly retryAfter: number | null;
  readonly endedAt: Millis;
}

/** Makes a function that sends an event to a webhook, signed with each of its active secrets. */
export const makeAttempt = Effect.gen(function* () {
  const secrets = yield* Secrets;
  const sender = yield* WebhookSender;

  return Effect.fnUntraced(function* (webhook: StoredWebhook, event: SentEvent) {
    const now = yield* Clock.currentTimeMillis;
    const body = bodyOf(webhook, event);
    const timestamp = String(Math.floor(now / 1_000));
    const signing = webhook.secrets.filter(({ endsAt }) => endsAt === null || now < endsAt);
    const signatures = yield* Effect.forEach(signing.toReversed(), ({ sealed }) =>
      secrets.signWebhook(webhook.id, sealed, `${event.id}.${timestamp}.${body}`),
    );
    const headers = {
      "content-type": "application/json",
      "user-agent": "accountlink",
      "webhook-id": event.id,
      "webhook-timestamp": timestamp,
      "webhook-signature": signatures.map((signature) => `v1,${signature}`).join(" "),
    };
    const result = yield* sender.send({ url: webhook.url, headers, body }).pipe(
      Effect.match({
        onSuccess: ({ status, retryAfter }) => {
          const error: DeliveryError | null = status >= 200 && status < 300 ? null : "status";
          return { status, retryAfter, error };
        },
        onFailure: ({ error }) => ({ status: null, retryAfter: null, error }),
      }),
    );
    return { ...result, endedAt: yield* Clock.currentTimeMillis } satisfies AttemptResult;
  });
});

const bodyOf = ({ scope }: StoredWebhook, { type, at, data }: SentEvent): string =>
  JSON.stringify({
    type,
    timestamp: formatTimestamp(at),
    data: wireData(data),
    scope: { pid: scope.pid, guildId: guildOf(scope) },
  });

/** Converts times to text for receivers. */
const wireData = (data: object): object =>
  "lastVerifiedAt" in data && typeof data.lastVerifiedAt === "number"
    ? { ...data, lastVerifiedAt: formatTimestamp(data.lastVerifiedAt) }
    : data;

/** Returns the delivery of a test event before its first attempt. */
export const untriedDelivery = ({ id, type, at }: SentEvent): StoredDelivery => ({
  eventId: id,
  type,
  at,
  attempts: 0,
  resends: 0,
  status: "waiting",
  responseStatus: null,
  error: null,
  nextAttemptAt: null,
  position: null,
  lanes: [],
});

/** Status 410: the receiver wants no more events, and the webhook is disabled at once. */
export const isGone = ({ status }: AttemptResult): boolean => status === 410;

/**
 * Returns a delivery after a scheduled attempt.
 *
 * @param random from 0 to 1
 */
export const attempted = (
  delivery: StoredDelivery,
  { status, error, retryAfter, endedAt }: AttemptResult,
  random: number,
): StoredDelivery => {
  const attempts = delivery.attempts + 1;
  const latest = { ...delivery, attempts, responseStatus: status, error };
  if (error === null) return { ...latest, status: "delivered", nextAttemptAt: null, lanes: [] };
  const next = nextAttemptAt({ attempts: attempts - delivery.resends, at: endedAt, retryAfter, random });
  return next === null
    ? { ...latest, status: "given_up", nextAttemptAt: null, lanes: [] }
    : { ...latest, status: "failing", nextAttemptAt: next };
};
