/** Sends the events of one webhook until none is left: new events from the feed, and failed deliveries that are due. */
import { Clock, Effect, Metric, Option, Queue, Random } from "effect";
import { originOfOperator } from "../../audit/audit.ts";
import type { Millis } from "../../timestamp.ts";
import type { DisabledReason } from "../webhook.ts";
import { WebhookStore } from "../webhook_store.ts";
import { attempted, attemptsDueUntil, isGone, longestFailure, makeAttempt } from "./attempt.ts";
import { DeliveryWindow, type Entry } from "./delivery_window.ts";
import { feedPage, makeWebhookFeed, type WebhookCourier, type WebhookNode } from "./webhook_feed.ts";

/** The most events of a webhook in memory. */
const windowSize = 200;

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

export const makeCourierRun = Effect.gen(function* () {
  const store = yield* WebhookStore;
  const { refresh, readFeed, findEvent, skipToEnd } = yield* makeWebhookFeed;
  const attempt = yield* makeAttempt;

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
      // Between two events that fail may lie days without any: the second one is tried again first.
      else if (delivery.attempts > 1 && (yield* hasFailedForLong(result.endedAt)))
        yield* disable("failing", result.endedAt);
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
      const due = yield* store.due(id, attemptsDueUntil(courier.item, now), space);
      courier.item = { ...courier.item, nextAttemptAt: null };
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
      if (!isEnding() && window.size <= windowSize - feedPage) {
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
