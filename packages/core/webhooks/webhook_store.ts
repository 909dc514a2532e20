import { Context, type Option } from "effect";
import type { WriteOrigin } from "../audit/audit.ts";
import type { StoreEffect } from "../errors.ts";
import type { HoldItems } from "../records/records.ts";
import type { Millis } from "../timestamp.ts";
import type {
  DeliveryError,
  DeliveryStatus,
  StoredDelivery,
  StoredWebhook,
  Webhook,
  WebhookChange,
  WebhookDetails,
  WebhookId,
  WebhookRecord,
} from "./webhook.ts";

export interface WebhookWrite extends WriteOrigin {
  readonly id: WebhookId;
  readonly at: Millis;
}

export interface InsertWebhook extends WriteOrigin {
  readonly webhook: Webhook;
  /** The encrypted secret. */
  readonly sealed: string;
  /** Only events after this position in the feed are sent. */
  readonly position: number;
  /** The most webhooks that the scope may have, including this one. */
  readonly maxOfScope: number;
}

export interface WebhookFilter {
  /** The account whose webhooks are returned; null for all accounts. */
  readonly account: string | null;
  /** The webhook to return; null to return all of them. */
  readonly id: WebhookId | null;
}

export interface DeliveryFilter {
  /** The status of the deliveries to return; null for any status. */
  readonly status: DeliveryStatus | null;
  /** An event ID: only deliveries of events with a lower ID, which are older, are returned. Null for no such bound. */
  readonly before: string | null;
  readonly limit: number;
}

/** A webhook whose events this node sends, with the progress of sending. */
export interface HeldWebhook extends StoredWebhook, Pick<WebhookRecord, "position"> {
  /** When the next attempt of any delivery is due; null if no delivery needs another attempt. */
  readonly nextAttemptAt: Millis | null;
  /** The time of the oldest event whose delivery is failing or waiting, or null. */
  readonly oldestFailingAt: Millis | null;
}

export interface RecordDeliveries {
  readonly id: WebhookId;
  readonly node: string;
  readonly at: Millis;
  readonly position: number;
  readonly deliveries: ReadonlyArray<StoredDelivery>;
  /** The lanes of deliveries that were stored as failing or waiting, and are now delivered or given up. */
  readonly freedLanes: ReadonlyArray<string>;
  /** When the latest successful attempt ended; null if no attempt succeeded. */
  readonly deliveredAt: Millis | null;
  /** When the first failed attempt after `deliveredAt` ended; null if no attempt failed. */
  readonly failedAt: Millis | null;
}

export interface AttemptResult {
  readonly attemptedAt: Millis;
  readonly endedAt: Millis;
  /** The HTTP status of the answer; null if there was no answer. */
  readonly status: number | null;
  /** The content type of the answer; null if there was none. */
  readonly type: string | null;
  /** Why the attempt failed; null if it did not fail. */
  readonly error: DeliveryError | null;
}

export interface RequestedAttempt extends AttemptResult {
  readonly id: WebhookId;
  /** The delivery as it was before the attempt. */
  readonly delivery: StoredDelivery;
}

/**
 * Stores webhooks, their deliveries, and the nodes that send them. Every operation is atomic. An account whose
 * last owner or admin goes has its webhooks paused.
 *
 * An unknown scope, an existing id, and text that `isStorable` refuses are defects.
 */
export class WebhookStore extends Context.Service<
  WebhookStore,
  {
    /**
     * Stores a webhook with a `webhook.created` entry. Returns false if the scope already has `maxOfScope` webhooks.
     */
    readonly insert: (write: InsertWebhook) => StoreEffect<boolean>;

    readonly find: (id: WebhookId) => StoreEffect<Option.Option<StoredWebhook>>;

    /** Returns webhooks oldest first, ties by id. */
    readonly list: (filter: WebhookFilter) => StoreEffect<ReadonlyArray<WebhookDetails>>;

    /**
     * Changes a webhook as `updatedWebhook` does. Writes an audit entry if anything changed. If the webhook becomes
     * active, its failing deliveries become due at once. Returns false if the webhook is unknown.
     */
    readonly update: (write: WebhookWrite & { readonly change: WebhookChange }) => StoreEffect<boolean>;

    /**
     * Deletes a webhook and its deliveries, with a `webhook.deleted` entry. Returns false if the webhook is unknown.
     */
    readonly remove: (write: WebhookWrite) => StoreEffect<boolean>;

    /** Returns the deliveries of a webhook except waiting ones, by event id, newest first. */
    readonly deliveries: (
      id: WebhookId,
      filter: DeliveryFilter,
    ) => StoreEffect<ReadonlyArray<StoredDelivery>>;

    readonly findDelivery: (id: WebhookId, eventId: string) => StoreEffect<Option.Option<StoredDelivery>>;

    /**
     * Stores the result of a requested attempt as `resent` computes it, and returns the new delivery; none if the
     * webhook is unknown. A success also ends the webhook's failure, and frees the delivery's lanes as `record` does.
     */
    readonly recordRequested: (attempt: RequestedAttempt) => StoreEffect<Option.Option<StoredDelivery>>;

    /**
     * Renews the node's lease, takes webhooks that no live node holds, and returns the node's active webhooks of
     * accounts that are not suspended.
     */
    readonly hold: (hold: HoldItems) => StoreEffect<ReadonlyArray<HeldWebhook>>;

    /**
     * Returns which of the events already have a delivery, and which of the lanes contain a failing or waiting
     * delivery.
     */
    readonly look: (
      id: WebhookId,
      eventIds: ReadonlyArray<string>,
      lanes: ReadonlyArray<string>,
    ) => StoreEffect<{ readonly known: ReadonlyArray<string>; readonly blocked: ReadonlyArray<string> }>;

    /**
     * Returns up to `limit` deliveries whose next attempt is due at `at` or earlier, sorted by the time of that
     * attempt.
     */
    readonly due: (id: WebhookId, at: Millis, limit: number) => StoreEffect<ReadonlyArray<StoredDelivery>>;

    /**
     * Makes the next attempts of the webhook's deliveries due now if they are scheduled for later. These attempts count
     * as requested ones, so that each delivery keeps all of its scheduled attempts.
     */
    readonly sendPending: (id: WebhookId, at: Millis) => StoreEffect<void>;

    /**
     * Stores a node's results, except failures of events that a requested attempt has delivered. Returns false and
     * changes nothing if the node no longer holds the webhook. A delivery that waits, in a lane of `freedLanes` or among
     * the results, becomes due if it is now the first in all of its lanes.
     */
    readonly record: (write: RecordDeliveries) => StoreEffect<boolean>;

    /**
     * Deletes the deliveries of events that are older than `before`, and those that an interrupted `remove` left, in small
     * atomic steps, and returns their number. Also frees the lanes of unsent deliveries as `record` does, so that the next
     * delivery in each lane can be sent.
     */
    readonly sweep: (before: Millis) => StoreEffect<number>;
  }
>()("@accountlink/core/WebhookStore") {}

// The rules by which adapters update stored deliveries.

/** Returns the lanes of all given deliveries, without duplicates. @internal */
export const lanesOf = (deliveries: ReadonlyArray<Pick<StoredDelivery, "lanes">>): ReadonlyArray<string> => [
  ...new Set(deliveries.flatMap(({ lanes }) => lanes)),
];

/** Returns the fields of a delivery that describe its latest attempt. @internal */
export const answerOf = ({ status, type, error, attemptedAt, endedAt }: AttemptResult) => ({
  responseStatus: status,
  responseType: type,
  error,
  attemptedAt,
  answeredAt: status === null ? null : endedAt,
});

/**
 * Returns the delivery with the result of an attempt that was requested. If the attempt of a failing delivery fails,
 * the scheduled attempts continue.
 *
 * @param stored the delivery that is stored now, which a scheduled attempt may have changed since `attempt.delivery`
 * was read; undefined if no delivery is stored
 * @internal
 */
export const resent = (
  attempt: RequestedAttempt,
  stored: StoredDelivery = attempt.delivery,
): StoredDelivery => {
  const { delivery, error } = attempt;
  const latest = {
    ...stored,
    attempts: stored.attempts + 1,
    resends: stored.resends + 1,
    ...answerOf(attempt),
  };
  if (error === null) return { ...latest, status: "delivered", nextAttemptAt: null, lanes: [] };
  return delivery.status === "failing" ? latest : { ...latest, status: "given_up", nextAttemptAt: null };
};
