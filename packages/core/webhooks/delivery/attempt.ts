/** One attempt to deliver an event, according to Standard Webhooks 1.0. */
import { Clock, Effect } from "effect";
import { dueUntil } from "../../couriers/couriers.ts";
import { guildOf } from "../../data_scope.ts";
import { Secrets } from "../../secrets/secrets.ts";
import { dayMs, formatTimestamp, hourMs, type Millis } from "../../timestamp.ts";
import type { DeliveryError, StoredDelivery, StoredWebhook } from "../webhook.ts";
import { WebhookSender } from "../webhook_sender.ts";
import { type AttemptResult, answerOf, type HeldWebhook } from "../webhook_store.ts";

/** The fields of an event that are sent. The event is from the feed, or a test event. @internal */
export interface SentEvent {
  readonly id: string;
  readonly type: string;
  readonly at: Millis;
  readonly data: object;
}

interface ScheduledResult extends AttemptResult {
  /** The delay in milliseconds that the receiver asks for, or null. */
  readonly retryAfter: number | null;
}

/** Makes a function that sends an event to a webhook, signed with each of its active secrets. */
export const makeAttempt = Effect.gen(function* () {
  const secrets = yield* Secrets;
  const sender = yield* WebhookSender;

  return Effect.fnUntraced(function* (webhook: StoredWebhook, event: SentEvent) {
    const now = yield* Clock.currentTimeMillis;
    const body = bodyOf(webhook, event);
    const signing = webhook.secrets.filter(({ endsAt }) => endsAt === null || now < endsAt);
    const signatures = yield* Effect.forEach(signing.toReversed(), ({ sealed }) =>
      secrets.signWebhook(webhook.id, sealed, signedText(event.id, now, body)),
    );
    const signature = signatures.map((each) => `v1,${each}`).join(" ");
    const headers = headersOf(event.id, now, signature);
    const result = yield* sender.send({ url: webhook.url, headers, body }).pipe(
      Effect.match({
        onSuccess: (answer) => {
          const error: DeliveryError | null = answer.status >= 200 && answer.status < 300 ? null : "status";
          return { type: null, ...answer, error };
        },
        onFailure: ({ error }) => ({ status: null, type: null, retryAfter: null, error }),
      }),
    );
    return {
      ...result,
      attemptedAt: now,
      endedAt: yield* Clock.currentTimeMillis,
    } satisfies ScheduledResult;
  });
});

const secondsOf = (time: Millis): string => String(Math.floor(time / 1_000));

/** The text whose signature the headers of a delivery have. @internal */
export const signedText = (eventId: string, attemptedAt: Millis, body: string): string =>
  `${eventId}.${secondsOf(attemptedAt)}.${body}`;

/** The headers of a delivery; `signature` may hold several, separated by spaces. @internal */
export const headersOf = (eventId: string, attemptedAt: Millis, signature: string) => ({
  "content-type": "application/json",
  "user-agent": "accountlink",
  "webhook-id": eventId,
  "webhook-timestamp": secondsOf(attemptedAt),
  "webhook-signature": signature,
});

export const bodyOf = ({ scope }: StoredWebhook, { type, at, data }: SentEvent): string =>
  JSON.stringify({
    type,
    timestamp: formatTimestamp(at),
    data: wireData(data),
    scope: { pid: scope.pid, guildId: guildOf(scope) },
  });

/** Converts `lastVerifiedAt`, which only some types of events have, to ISO 8601 text. */
const wireData = (data: object): object =>
  "lastVerifiedAt" in data && typeof data.lastVerifiedAt === "number"
    ? { ...data, lastVerifiedAt: formatTimestamp(data.lastVerifiedAt) }
    : data;

/** Returns the delivery of an event before the first attempt, without a feed position and without lanes. */
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
  attemptedAt: null,
  answeredAt: null,
  responseType: null,
  position: null,
  lanes: [],
});

/** Status 410: the receiver wants no more events, and the webhook is disabled at once. */
export const isGone = ({ status }: AttemptResult): boolean => status === 410;

/**
 * Returns a delivery with the result of a scheduled attempt, and the time of the next attempt if one is due.
 *
 * @param random from 0 to 1, spreads the times of next attempts
 */
export const attempted = (
  delivery: StoredDelivery,
  result: ScheduledResult,
  random: number,
): StoredDelivery => {
  const { error, retryAfter, endedAt } = result;
  const attempts = delivery.attempts + 1;
  const latest = { ...delivery, attempts, ...answerOf(result) };
  if (error === null) return { ...latest, status: "delivered", nextAttemptAt: null, lanes: [] };
  const next = nextAttemptAt(attempts - delivery.resends, endedAt, retryAfter, random);
  return next === null
    ? { ...latest, status: "given_up", nextAttemptAt: null, lanes: [] }
    : { ...latest, status: "failing", nextAttemptAt: next };
};

const [second, minute] = [1_000, 60_000];

const delays = [5 * second, 5 * minute, 30 * minute, 2 * hourMs, 5 * hourMs, 10 * hourMs, 10 * hourMs];

const longestDelay = 10 * hourMs;

export const attemptsDueUntil = ({ nextAttemptAt: next }: HeldWebhook, at: Millis): Millis =>
  dueUntil(next, at, longestDelay * (1 + jitter));

/**
 * The share of a delay by which it varies at random, so that deliveries that fail together are not retried together.
 */
const jitter = 0.1;

/** A webhook is disabled when it has failed for this long without a successful delivery, in milliseconds. */
export const longestFailure = 5 * dayMs;

/**
 * Returns when to try again after a number of failed attempts; null for never.
 *
 * @param retryAfter the receiver's requested delay in milliseconds, or null
 * @param random from 0 to 1
 */
export const nextAttemptAt = (
  attempts: number,
  at: Millis,
  retryAfter: number | null,
  random: number,
): Millis | null => {
  const delay = delays[attempts - 1];
  if (delay === undefined) return null;
  const spread = Math.round(delay * (1 + jitter * (2 * random - 1)));
  return at + Math.max(spread, Math.min(retryAfter ?? 0, longestDelay));
};
