/** The port for webhooks, their deliveries, and which node sends them. */
import { Context, type Effect, type Option } from "effect";
import type { WriteOrigin } from "../audit/audit.ts";
import type { StoreUnavailable } from "../errors.ts";
import type { Millis } from "../timestamp.ts";
import type {
  DeliveryError,
  DeliveryStatus,
  StoredWebhook,
  Webhook,
  WebhookChange,
  WebhookDelivery,
  WebhookDetails,
  WebhookId,
} from "./webhook.ts";

/** A write to one webhook. */
export interface WebhookWrite extends WriteOrigin {
  readonly id: WebhookId;
  readonly at: Millis;
}

export interface InsertWebhook extends WriteOrigin {
  readonly webhook: Webhook;
  /** The secret, encrypted. */
  readonly sealed: string;
  /** The position in the feed after which events are sent. */
  readonly position: number;
  /** How many webhooks a scope may have, with this one. */
  readonly maxOfScope: number;
}

export interface UpdateWebhook extends WebhookWrite {
  readonly change: WebhookChange;
}

/** Which webhooks to list. */
export interface WebhookFilter {
  /** Null for every account. */
  readonly account: string | null;
  /** Null for every webhook. */
  readonly id: WebhookId | null;
}

/** Which deliveries to list. */
export interface DeliveryFilter {
  /** Null for every status. */
  readonly status: DeliveryStatus | null;
  /** Only those before this event, by their ids, which sort by time; null for all. */
  readonly before: string | null;
  readonly limit: number;
}

/**
 * A delivery as a store keeps it. One that `waits` has not been tried: an earlier event of one of its lanes is not
 * delivered yet.
 */
export interface StoredDelivery extends Omit<WebhookDelivery, "status"> {
  /** The place of the event in the feed; null for a test, which is in none. */
  readonly position: number | null;
  readonly status: DeliveryStatus | "waiting";
  /** How many of the attempts somebody asked for. They are no part of the schedule. */
  readonly resends: number;
  /**
   * What keeps the order of each chat user: names of the users of the event, at most two. Empty once it is delivered or
   * given up.
   */
  readonly lanes: ReadonlyArray<string>;
}

/** A webhook that a node sends, with where it stands. */
export interface HeldWebhook extends StoredWebhook {
  /** All events up to this position of the feed are sent, or have a delivery. */
  readonly position: number;
  /** When the next delivery is to be tried again; null if none is. */
  readonly nextAttemptAt: Millis | null;
  /** The time of the oldest event that is failing or waiting; null if none is. */
  readonly oldestFailingAt: Millis | null;
}

export interface HoldWebhooks {
  readonly node: string;
  readonly at: Millis;
  /** Until when the node counts as alive. Not later than `at`: it lets all of its webhooks go. */
  readonly until: Millis;
  /** How many further webhooks to take at most. */
  readonly limit: number;
}

export interface RecordDeliveries {
  readonly id: WebhookId;
  readonly node: string;
  readonly at: Millis;
  readonly position: number;
  /** New ones and changed ones. */
  readonly deliveries: ReadonlyArray<StoredDelivery>;
  /** The lanes of deliveries that were failing, and are delivered or given up now. */
  readonly freedLanes: ReadonlyArray<string>;
  /** When the latest of them was delivered; null if none was. */
  readonly deliveredAt: Millis | null;
  /** When the first attempt after that failed; null if none did. */
  readonly failedAt: Millis | null;
}

/** An attempt that somebody asked for, and what came of it. */
export interface RequestedAttempt {
  readonly id: WebhookId;
  /** As it was before the attempt. */
  readonly delivery: StoredDelivery;
  readonly endedAt: Millis;
  /** Of the answer; null if there was none. */
  readonly status: number | null;
  /** Null for a success. */
  readonly error: DeliveryError | null;
}

/**
 * Where webhooks and their deliveries live. Every operation is atomic. Erasing the owner of an account deletes its
 * webhooks.
 *
 * An unknown scope, an id that exists, and text that `isStorable` refuses are defects.
 *
 * @example
 * ```ts
 * import { memoryWorld } from "@accountlink/testing";
 * import { Effect } from "effect";
 *
 * const world = await memoryWorld();
 * const list = Effect.flatMap(WebhookStore, (store) => store.list({ account: "acme", id: null }));
 * await world.run(list); // []
 * await world.close();
 * ```
 */
export class WebhookStore extends Context.Service<
  WebhookStore,
  {
    /** Stores a webhook with a `webhook.created` entry. False if its scope has as many as it may. */
    readonly insert: (write: InsertWebhook) => Effect.Effect<boolean, StoreUnavailable>;

    readonly find: (id: WebhookId) => Effect.Effect<Option.Option<StoredWebhook>, StoreUnavailable>;

    /** Oldest first, ties by id. */
    readonly list: (filter: WebhookFilter) => Effect.Effect<ReadonlyArray<WebhookDetails>, StoreUnavailable>;

    /**
     * Changes a webhook by `updatedWebhook`, with the entry that it names unless nothing changed. One that becomes
     * active tries its failing deliveries at once. False if it is unknown.
     */
    readonly update: (write: UpdateWebhook) => Effect.Effect<boolean, StoreUnavailable>;

    /** Deletes a webhook and its deliveries, with a `webhook.deleted` entry. False if it is unknown. */
    readonly remove: (write: WebhookWrite) => Effect.Effect<boolean, StoreUnavailable>;

    /** The deliveries of a webhook, without those that wait; newest first, by the ids of their events. */
    readonly deliveries: (
      id: WebhookId,
      filter: DeliveryFilter,
    ) => Effect.Effect<ReadonlyArray<StoredDelivery>, StoreUnavailable>;

    readonly findDelivery: (
      id: WebhookId,
      eventId: string,
    ) => Effect.Effect<Option.Option<StoredDelivery>, StoreUnavailable>;

    /**
     * Stores an attempt that somebody asked for, by `resent`, and the time of a success, which frees the lanes as
     * `record` does. Returns the delivery; none if the webhook is unknown.
     */
    readonly recordRequested: (
      attempt: RequestedAttempt,
    ) => Effect.Effect<Option.Option<StoredDelivery>, StoreUnavailable>;

    /**
     * Keeps a node alive, takes webhooks that no live node holds, and gives those of the node that may be sent: the
     * active ones of accounts that are not suspended.
     */
    readonly hold: (hold: HoldWebhooks) => Effect.Effect<ReadonlyArray<HeldWebhook>, StoreUnavailable>;

    /** Which of the events have a delivery already, and which of the lanes have one that is failing or waiting. */
    readonly look: (
      id: WebhookId,
      eventIds: ReadonlyArray<string>,
      lanes: ReadonlyArray<string>,
    ) => Effect.Effect<
      { readonly known: ReadonlyArray<string>; readonly blocked: ReadonlyArray<string> },
      StoreUnavailable
    >;

    /** The deliveries that are to be tried again by a time, the first due first. */
    readonly due: (
      id: WebhookId,
      at: Millis,
      limit: number,
    ) => Effect.Effect<ReadonlyArray<StoredDelivery>, StoreUnavailable>;

    /**
     * Makes the deliveries due that are to be tried again later. The attempt counts as one that somebody asked for, so
     * that the schedule is not used up.
     */
    readonly sendPending: (id: WebhookId, at: Millis) => Effect.Effect<void, StoreUnavailable>;

    /**
     * Stores what a node did, if it still holds the webhook: else false, without any change. Of each freed lane, the
     * first delivery that waits is due at once, if it is the first of all of its lanes.
     */
    readonly record: (write: RecordDeliveries) => Effect.Effect<boolean, StoreUnavailable>;

    /**
     * Deletes the deliveries of events before a time, in small atomic steps, and returns their number. The lanes of those
     * that were still to be sent are freed as by `record`.
     */
    readonly sweep: (before: Millis) => Effect.Effect<number, StoreUnavailable>;
  }
>()("@accountlink/core/WebhookStore") {}
