/** Sends the events of one webhook until none is left: new events from the feed, and failed deliveries that are due. */
import { Clock, Effect, Metric, Option, Queue, Random } from "effect";
import { originOfOperator } from "../../audit/audit.ts";
import type { Courier, CourierNode } from "../../couriers/couriers.ts";
import { erasedMark } from "../../erased_mark.ts";
import type { FeedEvent } from "../../events/event.ts";
import { EventStore } from "../../events/event_store.ts";
import { Secrets } from "../../secrets/secrets.ts";
import type { Millis } from "../../timestamp.ts";
import type { Turns } from "../../turns/mod.ts";
import type { DisabledReason } from "../webhook.ts";
import { type HeldWebhook, lanesOf, WebhookStore } from "../webhook_store.ts";
import { attempted, isGone, longestFailure, makeAttempt, untriedDelivery } from "./attempt.ts";
import { DeliveryWindow, type Entry } from "./delivery_window.ts";

/** The most events of a webhook in memory, and the most per read of the feed. */
const [windowSize, pageSize] = [200, 50];

/** The most concurrent attempts of a working webhook, and of a failing one. */
const [mostAttempts, mostFailingAttempts] = [8, 2];

/**
 * How long a failed attempt delays the webhook's next attempts, in milliseconds. Without the delay, a receiver that
 * refuses at once would use all of the processor.
 */
const failurePause = 20;

/** How often due deliveries are read, in milliseconds. */
const dueInterval = 1_000;

/**
 * How long results wait to be stored together, in milliseconds. One transaction per result would be slow on a single
 * disk.
 */
const saveInterval = 100;

const attempts = Metric.counter("accountlink_webhook_attempts_total", {
  description: "Attempts to deliver an event to a webhook, by what became of the delivery",
  incremental: true,
});

/** The actor that disables a webhook. */
const service = originOfOperator("delivery");

/** State shared by all webhooks of a node. */
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

export const makeCourierRun = Effect.gen(function* () {
  const store = yield* WebhookStore;
  const events = yield* EventStore;
  const { webhookLane } = yield* Secrets;
  const attempt = yield* makeAttempt;

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
    const page = Option.getOrNull(yield* events.read(pid, window.readPosition, pageSize));
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
    return page.length === pageSize;
  });

  const lanesFor = ({ id }: HeldWebhook, { data }: FeedEvent) => {
    const users = ["chatId", "previousChatId"].flatMap((name) => {
      const user = (data as Readonly<Record<string, unknown>>)[name];
      return typeof user === "string" && user !== erasedMark ? [user] : [];
    });
    return Effect.forEach([...new Set(users)], (user) => webhookLane(id, user));
  };

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

  return Effect.fnUntraced(function* (node: WebhookNode, courier: WebhookCourier) {
    const { id } = courier.item;
    const window = new DeliveryWindow(courier.position);
    let running = 0;
    /** How many further attempts wait for a place. */
    let asking = 0;
    let dueAt = 0;
    let saveAt = 0;
    let { failingSince } = courier.item;
    let isBroken = false;

    const disable = Effect.fnUntraced(function* (reason: DisabledReason, at: Millis) {
      courier.isStopping = true;
      yield* store.update({ ...service, id, change: { disabledReason: reason }, at });
    });

    /**
     * Returns whether the webhook has failed for so long that it must be disabled. Before it returns true, it reads the
     * webhook again, because its owner or a resent event may have ended the failure meanwhile.
     */
    const hasFailedForLong = Effect.fnUntraced(function* (at: Millis) {
      const isLong = () => failingSince !== null && at - failingSince >= longestFailure;
      if (!isLong()) return false;
      failingSince = Option.getOrNull(yield* store.find(id))?.failingSince ?? null;
      return isLong();
    });

    const send = Effect.fnUntraced(function* (entry: Entry) {
      const event = yield* findEvent(courier, entry);
      if (event === null) {
        const dropped = { ...entry.delivery, status: "given_up", nextAttemptAt: null, lanes: [] } as const;
        window.finish(entry, dropped, null);
        return;
      }
      const startedAt = yield* Clock.currentTimeMillis;
      const result = yield* attempt(courier.item, event);
      const delivery = attempted(entry.delivery, result, yield* Random.next);
      courier.latestAttempt = result.endedAt - startedAt;
      yield* Metric.update(Metric.withAttributes(attempts, { outcome: delivery.status }), 1);
      window.finish(entry, delivery, result.endedAt);
      failingSince = delivery.status === "delivered" ? null : (failingSince ?? result.endedAt);
      if (isGone(result)) yield* disable("gone", result.endedAt);
      else if (yield* hasFailedForLong(result.endedAt)) yield* disable("failing", result.endedAt);
      if (delivery.status !== "delivered") yield* Effect.sleep(failurePause);
    });

    /** Takes the next event, if it may be sent now. */
    const take = Effect.map(Clock.currentTimeMillis, (now) => {
      const most = failingSince === null ? mostAttempts : mostFailingAttempts;
      if (running >= most || now >= node.livesUntil || isEnding()) return undefined;
      const entry = window.next();
      if (entry !== undefined) running++;
      return entry;
    });

    const sendTaken = (entry: Entry) =>
      send(entry).pipe(
        // The store is down. The next run continues from the last saved state.
        Effect.catch(() =>
          Effect.sync(() => {
            isBroken = true;
          }),
        ),
        Effect.ensuring(
          Effect.suspend(() => {
            running--;
            return Queue.offer(courier.changes, undefined);
          }),
        ),
      );

    const sendNext = Effect.suspend(() => {
      asking--;
      return Effect.flatMap(take, (entry) => (entry === undefined ? Effect.void : sendTaken(entry)));
    });

    /** Starts an attempt if none runs, and asks for places for further ones. */
    const startReady = Effect.gen(function* () {
      const first = running === 0 ? yield* take : undefined;
      if (first !== undefined) yield* Effect.forkChild(sendTaken(first));
      const most = failingSince === null ? mostAttempts : mostFailingAttempts;
      while (asking < window.ready && running + asking < most && !isEnding()) {
        asking++;
        yield* Effect.forkChild(node.turns.step(courier.item.scope.account, sendNext));
      }
    });

    const isEnding = () => isBroken || courier.isStopping || node.isStopping;

    /** Stores the results of attempts. Returns false if another node has taken over the webhook. */
    const save = Effect.fnUntraced(function* () {
      const at = yield* Clock.currentTimeMillis;
      const { position } = window;
      if (!window.hasUnsaved && position === courier.position) return true;
      if (running > 0 && at < saveAt && !isEnding()) return true;
      const { deliveries, freedLanes, deliveredAt, failedAt } = window.takeUnsaved();
      const write = { id, node: node.id, at, position, deliveredAt, failedAt };
      const lists = { deliveries: [...deliveries.values()], freedLanes: [...freedLanes] };
      const isHeld = yield* store.record({ ...write, ...lists });
      saveAt = at + saveInterval;
      if (isHeld) courier.position = position;
      if (freedLanes.size > 0) dueAt = 0;
      return isHeld;
    });

    const readDue = Effect.fnUntraced(function* () {
      const now = yield* Clock.currentTimeMillis;
      if (now < dueAt) return;
      const space = windowSize - window.size;
      const due = yield* store.due(id, now, space);
      // If these deliveries fill the window, more may be due, so the next read does not wait for `dueInterval`.
      dueAt = due.length === space ? saveAt : now + dueInterval;
      if (due.length > 0) yield* refresh(courier);
      for (const delivery of due) {
        const { position } = delivery;
        if (position !== null) window.addDue({ delivery: { ...delivery, position }, isStored: true });
      }
    });

    /**
     * If attempts are in flight, waits for the next result. Returns true if the courier must continue, to store results
     * or to send more events.
     */
    const goOn = Effect.fnUntraced(function* () {
      if (running > 0) {
        const change = Queue.take(courier.changes);
        if (!window.hasUnsaved) yield* change;
        else yield* Effect.timeoutOption(change, Math.max(1, saveAt - (yield* Clock.currentTimeMillis)));
        return true;
      }
      if (window.hasUnsaved || window.position !== courier.position) return true;
      const isLeft = courier.hasNews || dueAt === 0;
      return isLeft && !isEnding() && (yield* Clock.currentTimeMillis) < node.livesUntil;
    });

    do {
      if (!isEnding() && window.size <= windowSize - pageSize) {
        if (courier.hasNews) {
          courier.hasNews = false;
          const hasMore = yield* readFeed(courier, window);
          if (hasMore === null) return yield* skipToEnd(node, courier);
          courier.hasNews ||= hasMore;
        }
        yield* readDue();
      }
      yield* startReady;
      if (!(yield* save())) return;
      courier.oldestAt = window.oldestAt;
    } while (yield* goOn());
  });
});
