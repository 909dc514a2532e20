/**
 * Sends the events of one webhook, until nothing is left to send: new ones from the feed, and failed ones that are due.
 */
import { Clock, Effect, Metric, Option, Queue, Random } from "effect";
import type { FeedEvent } from "../../events/event.ts";
import { EventStore } from "../../events/event_store.ts";
import { Secrets } from "../../secrets/secrets.ts";
import type { Millis } from "../../timestamp.ts";
import { erasedMark } from "../../users/erasure.ts";
import { longestFailure } from "../retry_schedule.ts";
import type { DisabledReason } from "../webhook.ts";
import { type HeldWebhook, WebhookStore } from "../webhook_store.ts";
import { attempted, isGone, makeAttempt, untriedDelivery } from "./attempt.ts";
import { DeliveryWindow, type Entry } from "./delivery_window.ts";

/** How many events are in hand at most, and how many are read at once. */
const [windowSize, pageSize] = [200, 50];

/** How many attempts of a webhook run at once: of one that works, and of one that fails. */
const [mostAttempts, mostFailingAttempts] = [8, 2];

/**
 * How long a failed attempt keeps others of its webhook from starting, in milliseconds: a receiver that refuses at once
 * would otherwise take as much of the processor as there is.
 */
const failurePause = 20;

/** An event that was read earlier is read again when it is sent: its user may have been erased. In milliseconds. */
const freshFor = 1_000;

/** How often deliveries are looked for that became due, in milliseconds. */
const dueInterval = 1_000;

/** How long what became of events waits for more to be stored with it, in milliseconds: on one disk, each transaction waits. */
const saveInterval = 100;

const attempts = Metric.counter("accountlink_webhook_attempts_total", {
  description: "Attempts to deliver an event to a webhook, by what became of the delivery",
  incremental: true,
});

/** Who disables a webhook. */
const service = { actor: { type: "operator", id: "delivery" }, requestId: null } as const;

/** What all couriers of a node share. */
export interface CourierNode {
  readonly id: string;
  /** Until when the node may send. */
  livesUntil: Millis;
  isStopping: boolean;
  /** How many attempts may run at once, besides one of each webhook. */
  freeAttempts: number;
}

/** A webhook in the hands of this node. */
export interface Courier {
  webhook: HeldWebhook;
  /** All events up to here are sent, or stored as deliveries. */
  position: number;
  /** Whether the feed may have events after what was read. */
  hasNews: boolean;
  isRunning: boolean;
  /** Whether it has to end, as where its webhook was paused. */
  isStopping: boolean;
  /** The time of the oldest new event in hand; null if there is none. */
  oldestAt: Millis | null;
  /** How long its latest attempt took, in milliseconds. */
  latestAttempt: number;
  /** Wakes it when something changed. */
  readonly changes: Queue.Queue<void>;
}

interface EventEntry extends Entry {
  /** The event as it was read; null for one that is read when it is sent. */
  readonly read: { readonly event: FeedEvent; readonly at: Millis } | null;
}

export const makeCourierRun = Effect.gen(function* () {
  const store = yield* WebhookStore;
  const events = yield* EventStore;
  const { webhookLane } = yield* Secrets;
  const attempt = yield* makeAttempt;

  /** Takes what was changed in the webhook, so that an event is never sent as before a change that was answered earlier. */
  const refresh = Effect.fnUntraced(function* (courier: Courier) {
    const stored = Option.getOrNull(yield* store.find(courier.webhook.id));
    if (stored?.status === "active") courier.webhook = { ...courier.webhook, ...stored };
    else courier.isStopping = true;
  });

  /** Reads new events into the window, and returns whether there may be more; null if the feed was put back. */
  const readFeed = Effect.fnUntraced(function* (courier: Courier, window: DeliveryWindow) {
    const { pid } = courier.webhook.scope;
    const page = Option.getOrNull(yield* events.read(pid, window.readPosition, pageSize));
    if (page === null) {
      const { start } = yield* events.range(pid);
      if (window.readPosition >= start) return null;
      // Events that were deleted before they could be sent.
      window.skipTo(start);
      return true;
    }
    if (page.length > 0) yield* refresh(courier);
    if (courier.isStopping) return false;
    const { webhook } = courier;
    const wanted = page.filter(({ type }) => webhook.types.length === 0 || webhook.types.includes(type));
    const at = yield* Clock.currentTimeMillis;
    const entries = yield* Effect.forEach(wanted, (event) =>
      Effect.map(lanesOf(webhook, event), (lanes) => newEntry(event, lanes, at)),
    );
    const { known, blocked } =
      entries.length === 0
        ? { known: [], blocked: [] }
        : yield* store.look(
            webhook.id,
            wanted.map(({ id }) => id),
            [...new Set(entries.flatMap(({ delivery }) => delivery.lanes))],
          );
    for (const entry of entries) {
      const { eventId, lanes } = entry.delivery;
      if (known.includes(eventId)) continue;
      window.addNew(
        entry,
        lanes.some((lane) => blocked.includes(lane)),
      );
    }
    window.skipTo(page.at(-1)?.position ?? window.readPosition);
    return page.length === pageSize;
  });

  const lanesOf = ({ id }: HeldWebhook, { data }: FeedEvent) => {
    const users = ["chatId", "previousChatId"].flatMap((name) => {
      const user = (data as unknown as Readonly<Record<string, unknown>>)[name];
      return typeof user === "string" && user !== erasedMark ? [user] : [];
    });
    return Effect.forEach([...new Set(users)], (user) => webhookLane(id, user));
  };

  const findEvent = Effect.fnUntraced(function* ({ webhook }: Courier, { delivery, read }: EventEntry) {
    const now = yield* Clock.currentTimeMillis;
    if (read !== null && now - read.at < freshFor) return read.event;
    const page = yield* events.read(webhook.scope.pid, delivery.position - 1, 1);
    const found = Option.getOrElse(page, () => [])[0];
    return found?.id === delivery.eventId ? found : null;
  });

  /** After a backup was restored, the feed ends before what was sent. What comes from now on is sent. */
  const skipToEnd = Effect.fnUntraced(function* (node: CourierNode, courier: Courier) {
    const { id, scope } = courier.webhook;
    const { end } = yield* events.range(scope.pid);
    const nothing = { deliveries: [], freedLanes: [], deliveredAt: null, failedAt: null };
    const at = yield* Clock.currentTimeMillis;
    yield* store.record({ id, node: node.id, at, position: end, ...nothing });
    courier.position = end;
  });

  return Effect.fnUntraced(function* (node: CourierNode, courier: Courier) {
    const { id } = courier.webhook;
    const window = new DeliveryWindow<EventEntry>(courier.position);
    let running = 0;
    let dueAt = 0;
    let saveAt = 0;
    let { failingSince } = courier.webhook;
    let isBroken = false;

    const disable = Effect.fnUntraced(function* (reason: DisabledReason, at: Millis) {
      courier.isStopping = true;
      yield* store.update({ ...service, id, change: { disabledReason: reason }, at });
    });

    /** Asks the store, too: since this run began, an event may have been sent by hand, or the webhook made active. */
    const hasFailedForLong = Effect.fnUntraced(function* (at: Millis) {
      const isLong = () => failingSince !== null && at - failingSince >= longestFailure;
      if (!isLong()) return false;
      failingSince = Option.getOrNull(yield* store.find(id))?.failingSince ?? null;
      return isLong();
    });

    const send = Effect.fnUntraced(function* (entry: EventEntry) {
      const event = yield* findEvent(courier, entry);
      if (event === null) {
        window.drop(entry, { ...entry.delivery, status: "given_up", nextAttemptAt: null, lanes: [] });
        return;
      }
      const startedAt = yield* Clock.currentTimeMillis;
      const result = yield* attempt(courier.webhook, event);
      const delivery = attempted(entry.delivery, result, yield* Random.next);
      courier.latestAttempt = result.endedAt - startedAt;
      yield* Metric.update(Metric.withAttributes(attempts, { outcome: delivery.status }), 1);
      window.finish(entry, delivery, result.endedAt);
      failingSince = delivery.status === "delivered" ? null : (failingSince ?? result.endedAt);
      if (isGone(result)) yield* disable("gone", result.endedAt);
      else if (yield* hasFailedForLong(result.endedAt)) yield* disable("failing", result.endedAt);
      if (delivery.status !== "delivered") yield* Effect.sleep(failurePause);
    });

    /** Starts what may be sent now. */
    const startReady = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis;
      const most = failingSince === null ? mostAttempts : mostFailingAttempts;
      while (window.isReady && running < most && now < node.livesUntil && !isEnding()) {
        const isExtra = running > 0;
        if (isExtra && node.freeAttempts === 0) return;
        const entry = window.next() as EventEntry;
        running++;
        if (isExtra) node.freeAttempts--;
        const sending = send(entry).pipe(
          // The store is away: another run begins where this one was saved.
          Effect.catch(() =>
            Effect.sync(() => {
              isBroken = true;
            }),
          ),
          Effect.ensuring(
            Effect.suspend(() => {
              running--;
              if (isExtra) node.freeAttempts++;
              return Queue.offer(courier.changes, undefined);
            }),
          ),
        );
        yield* Effect.forkChild(sending);
      }
    });

    const isEnding = () => isBroken || courier.isStopping || node.isStopping;

    /** Stores what was done. False if another node has the webhook. */
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
      // More may be due, and is found once these are stored as tried.
      dueAt = due.length === space ? saveAt : now + dueInterval;
      if (due.length > 0) yield* refresh(courier);
      for (const delivery of due) {
        if (delivery.position === null) continue;
        const stored = { ...delivery, position: delivery.position };
        window.addDue({
          delivery: stored,
          isStored: true,
          isErasure: delivery.type === "user.erased",
          read: null,
        });
      }
    });

    /** Whether anything was started, is to be stored, or may be read. */
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

const newEntry = (event: FeedEvent, lanes: ReadonlyArray<string>, at: Millis): EventEntry => ({
  read: { event, at },
  isStored: false,
  isErasure: event.type === "user.erased",
  delivery: { ...untriedDelivery(event), position: event.position, lanes },
});
