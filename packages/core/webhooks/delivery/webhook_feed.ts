/** The events of one webhook, from the feed of its scope. */
import { Clock, Effect, Option } from "effect";
import type { Courier, CourierNode } from "../../couriers/couriers.ts";
import { EventStore, type FeedEvent, usersNamedIn } from "../../events/mod.ts";
import { Secrets } from "../../secrets/secrets.ts";
import type { Millis } from "../../timestamp.ts";
import type { Turns } from "../../turns/mod.ts";
import { type HeldWebhook, lanesOf, WebhookStore } from "../webhook_store.ts";
import { untriedDelivery } from "./attempt.ts";
import type { DeliveryWindow, Entry } from "./delivery_window.ts";

/** The most events per read of the feed. */
export const feedPage = 50;

export interface WebhookNode extends CourierNode {
  /** The places of concurrent attempts. The first running attempt of each webhook needs none. */
  readonly turns: Turns;
}

/** The courier that sends the events of one webhook, with two values for metrics. */
export interface WebhookCourier extends Courier<HeldWebhook> {
  /** The time of the oldest new event in memory that is not finished, or null. */
  oldestAt: Millis | null;
  /** The duration of the latest attempt, in milliseconds. */
  latestAttempt: number;
}

export const makeWebhookFeed = Effect.gen(function* () {
  const store = yield* WebhookStore;
  const events = yield* EventStore;
  const { webhookLane } = yield* Secrets;

  /** Reloads the webhook, so no event is sent with settings older than an acknowledged change. */
  const refresh = Effect.fnUntraced(function* (courier: WebhookCourier) {
    const stored = Option.getOrNull(yield* store.find(courier.item.id));
    if (stored?.status === "active") courier.item = { ...courier.item, ...stored };
    else courier.isStopping = true;
  });

  /**
   * Reads new events from the feed into the window. Returns whether the feed may have more new events. Returns null if
   * the feed ends before the read position, which happens after a backup was restored.
   */
  const readFeed = Effect.fnUntraced(function* (courier: WebhookCourier, window: DeliveryWindow) {
    const { pid } = courier.item.scope;
    const page = Option.getOrNull(yield* events.read(pid, window.readPosition, feedPage));
    if (page === null) {
      const { start } = yield* events.range(pid);
      if (window.readPosition >= start) return null;
      // The events between the read position and `start` were deleted before they could be sent.
      window.skipTo(start);
      return true;
    }
    if (page.length > 0) yield* refresh(courier);
    if (courier.isStopping) return false;
    const { item: webhook } = courier;
    const wanted = page.filter(({ type }) => webhook.types.length === 0 || webhook.types.includes(type));
    const deliveries = yield* Effect.forEach(wanted, (event) =>
      Effect.map(lanesFor(webhook, event), (lanes) => ({
        ...untriedDelivery(event),
        position: event.position,
        lanes,
      })),
    );
    const eventIds = wanted.map(({ id }) => id);
    const { known, blocked } = yield* store.look(webhook.id, eventIds, lanesOf(deliveries));
    for (const delivery of deliveries) {
      if (known.includes(delivery.eventId)) continue;
      const isBlocked = delivery.lanes.some((lane) => blocked.includes(lane));
      window.addNew({ delivery, isStored: false }, isBlocked);
    }
    window.skipTo(page.at(-1)?.position ?? window.readPosition);
    return page.length === feedPage;
  });

  const lanesFor = ({ id }: HeldWebhook, event: FeedEvent) =>
    Effect.forEach(usersNamedIn(event), (user) => webhookLane(id, user));

  /** Reads an event again before it is sent, because its user may have been erased meanwhile. */
  const findEvent = Effect.fnUntraced(function* ({ item }: WebhookCourier, { delivery }: Entry) {
    const page = yield* events.read(item.scope.pid, delivery.position - 1, 1);
    const found = Option.getOrElse(page, () => [])[0];
    return found?.id === delivery.eventId ? found : null;
  });

  /**
   * Moves the webhook's position to the end of the feed, so that only later events are sent. Needed after a backup was
   * restored, because the feed then ends before the webhook's position.
   */
  const skipToEnd = Effect.fnUntraced(function* (node: WebhookNode, courier: WebhookCourier) {
    const { id, scope } = courier.item;
    const { end } = yield* events.range(scope.pid);
    const nothing = { deliveries: [], freedLanes: [], deliveredAt: null, failedAt: null };
    const at = yield* Clock.currentTimeMillis;
    yield* store.record({ id, node: node.id, at, position: end, ...nothing });
    courier.position = end;
  });

  return { refresh, readFeed, findEvent, skipToEnd };
});
