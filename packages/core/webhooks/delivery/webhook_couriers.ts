/**
 * Sends the webhooks that this node holds until its scope closes. Other nodes take over the webhooks of a dead node.
 */
import { Clock, Context, Effect, FiberSet, Latch, Layer, Metric, Queue, type Scope } from "effect";
import { uuidV4Unsafe } from "effect/crypto/SecureRandom";
import { EventStore } from "../../events/event_store.ts";
import type { Pid } from "../../ids.ts";
import { forEachLinkChange } from "../../links/link_events.ts";
import { paced } from "../../paced.ts";
import type { Secrets } from "../../secrets/secrets.ts";
import { forEachSessionChange } from "../../sessions/session_watch.ts";
import type { Signals } from "../../signals.ts";
import { readMetric } from "../../telemetry/metric_reading.ts";
import { warnOnce } from "../../telemetry/warn_once.ts";
import type { Millis } from "../../timestamp.ts";
import type { WebhookId } from "../webhook.ts";
import { forEachWebhookChange } from "../webhook_changes.ts";
import { type HeldWebhook, WebhookStore } from "../webhook_store.ts";
import { type Courier, type CourierNode, makeCourierRun } from "./courier.ts";

/** How long a node holds its webhooks after its last heartbeat, in milliseconds. */
const holdTime = 7_000;

/** How often the node looks for free webhooks, changes of its webhooks, and events. */
const interval = "1 second";

/** How many webhooks the node takes at once. Nodes that start together share them. */
const takenAtOnce = 50;

/** The most concurrent attempts, in addition to one per webhook. */
const mostExtraAttempts = 128;

/** How long a stop waits for attempts in flight. An attempt takes at most ten seconds. */
const drainTime = "11 seconds";

const backlog = Metric.gauge("accountlink_webhook_backlog_seconds", {
  description: "Age of the oldest event that this node has read and not tried to deliver",
});

const failing = Metric.gauge("accountlink_webhook_failing_seconds", {
  description: "Age of the oldest event whose delivery fails or waits, of all webhooks of this node",
});

const slowest = Metric.gauge("accountlink_webhook_slowest_seconds", {
  description: "The longest of the latest attempts of all webhooks of this node",
});

/**
 * Sends webhooks with the adapter's `WebhookSender`. Without an adapter every attempt fails.
 *
 * @internal
 */
export class WebhookCouriers extends Context.Service<
  WebhookCouriers,
  {
    /** Starts no more attempts, because the node is stopping. Attempts in flight end before the scope closes. */
    readonly stop: Effect.Effect<void>;
  }
>()("@accountlink/core/WebhookCouriers") {
  static readonly layer: Layer.Layer<WebhookCouriers, never, WebhookStore | EventStore | Secrets | Signals> =
    Layer.effect(
      WebhookCouriers,
      Effect.gen(function* () {
        const store = yield* WebhookStore;
        const run = yield* makeCourierRun;
        const runs = yield* FiberSet.make();
        const couriers = new Map<WebhookId, Courier>();
        const node = makeNode();

        const stop = Effect.gen(function* () {
          node.isStopping = true;
          for (const { changes } of couriers.values()) yield* Queue.offer(changes, undefined);
        });

        /** Waits for attempts in flight, and lets other nodes take the webhooks. */
        const release = Effect.gen(function* () {
          yield* stop;
          yield* Effect.ignore(Effect.timeout(FiberSet.awaitEmpty(runs), drainTime));
          const at = yield* Clock.currentTimeMillis;
          const letGo = store.hold({ node: node.id, at, until: at, limit: 0 });
          if (couriers.size > 0) yield* Effect.ignore(Effect.timeout(letGo, "2 seconds"));
        });

        const start = Effect.fnUntraced(function* (courier: Courier) {
          courier.isRunning = true;
          const running = yield* warnOnce("Cannot send webhooks", run(node, courier));
          const ended = Effect.sync(() => {
            courier.isRunning = false;
            courier.oldestAt = null;
          });
          yield* FiberSet.run(runs, Effect.ensuring(running, ended));
        });

        const { tick, look } = yield* makeSteps(node, couriers, start);
        const ticking = yield* warnOnce("Cannot look for webhooks", tick);
        const looking = yield* warnOnce("Cannot look for events of webhooks", look);
        yield* Effect.addFinalizer(() => release);
        const isChanged = Latch.makeUnsafe(false);
        yield* forEachWebhookChange(() => isChanged.openUnsafe());
        const untilTick = Effect.andThen(Effect.timeoutOption(isChanged.await, interval), isChanged.close);
        yield* Effect.forkScoped(Effect.forever(Effect.andThen(ticking, untilTick)));
        const news = yield* hearNews(couriers);
        yield* Effect.forkScoped(tellNews(news, couriers, start));
        yield* Effect.forkScoped(lookAfterNews(news, looking));
        yield* measure(couriers);
        return WebhookCouriers.of({ stop });
      }),
    );
}

type Start = (courier: Courier) => Effect.Effect<void>;

const wake = (courier: Courier, start: Start): Effect.Effect<unknown> =>
  courier.isRunning || courier.isStopping ? Queue.offer(courier.changes, undefined) : start(courier);

/** Makes the steps that take webhooks, follow their changes, and look for their events. */
const makeSteps = Effect.fnUntraced(function* (
  node: CourierNode,
  couriers: Map<WebhookId, Courier>,
  start: Start,
) {
  const store = yield* WebhookStore;
  const events = yield* EventStore;

  const update = Effect.fnUntraced(function* (held: ReadonlyArray<HeldWebhook>) {
    for (const webhook of held) {
      const courier = couriers.get(webhook.id);
      if (courier === undefined) couriers.set(webhook.id, yield* makeCourier(webhook));
      else if (!courier.isStopping) courier.webhook = webhook;
    }
    const ids = new Set(held.map(({ id }) => id));
    for (const [id, courier] of couriers) {
      if (ids.has(id) && !courier.isStopping) continue;
      courier.isStopping = true;
      yield* Queue.offer(courier.changes, undefined);
      if (!courier.isRunning) couriers.delete(id);
    }
  });

  const look = Effect.gen(function* () {
    const all = [...couriers.values()].filter(({ isStopping }) => !isStopping);
    if (node.isStopping || all.length === 0) return;
    const places = all.map(({ webhook, position }) => ({ pid: webhook.scope.pid, after: position }));
    const newer = new Set(yield* events.newer(places));
    for (const courier of all) {
      if (!newer.has(courier.webhook.scope.pid)) continue;
      courier.hasNews = true;
      yield* wake(courier, start);
    }
  });

  const tick = Effect.gen(function* () {
    if (node.isStopping) return;
    const at = yield* Clock.currentTimeMillis;
    const until = at + holdTime;
    const held = yield* store.hold({ node: node.id, at, until, limit: takenAtOnce });
    node.livesUntil = until;
    yield* update(held);
    for (const courier of couriers.values()) {
      const { nextAttemptAt } = courier.webhook;
      const isDue = nextAttemptAt !== null && nextAttemptAt <= at;
      if (courier.hasNews || isDue) yield* wake(courier, start);
    }
    yield* look;
  });

  return { tick, look };
});

/** Scopes with new events, according to signals. */
interface News {
  readonly pids: Set<Pid>;
  /** Open after an event of a known scope. */
  readonly isOfScope: Latch.Latch;
  /** Open after a change whose scope is unknown. */
  readonly isOfAny: Latch.Latch;
}

const hearNews = Effect.fnUntraced(function* (couriers: ReadonlyMap<WebhookId, Courier>) {
  const news: News = {
    pids: new Set(),
    isOfScope: Latch.makeUnsafe(false),
    isOfAny: Latch.makeUnsafe(false),
  };
  yield* forEachLinkChange((pidOf) => {
    if (couriers.size === 0) return;
    news.pids.add(pidOf());
    news.isOfScope.openUnsafe();
  });
  yield* forEachSessionChange(() => {
    if (couriers.size > 0) news.isOfAny.openUnsafe();
  });
  return news;
});

/** How soon the store is polled after a signal that names no scope, in milliseconds. */
const lookDelay = 20;

const lookAfterNews = ({ isOfAny }: News, look: Effect.Effect<void>) => {
  const lookSoon = paced(
    lookDelay,
    Effect.suspend(() => {
      isOfAny.closeUnsafe();
      return look;
    }),
  );
  return Effect.forever(Effect.andThen(isOfAny.await, lookSoon));
};

const tellNews = Effect.fnUntraced(function* (
  { pids, isOfScope }: News,
  couriers: ReadonlyMap<WebhookId, Courier>,
  start: Start,
) {
  while (true) {
    yield* isOfScope.await;
    isOfScope.closeUnsafe();
    const changed = new Set(pids);
    pids.clear();
    for (const courier of couriers.values()) {
      if (!changed.has(courier.webhook.scope.pid)) continue;
      courier.hasNews = true;
      yield* wake(courier, start);
    }
  }
});

const makeNode = (): CourierNode => ({
  id: uuidV4Unsafe(),
  livesUntil: 0,
  isStopping: false,
  freeAttempts: mostExtraAttempts,
});

const makeCourier = (webhook: HeldWebhook): Effect.Effect<Courier> =>
  Effect.map(Queue.sliding<void>(1), (changes) => ({
    webhook,
    position: webhook.position,
    hasNews: true,
    isRunning: false,
    isStopping: false,
    oldestAt: null,
    latestAttempt: 0,
    changes,
  }));

const measure = Effect.fnUntraced(function* (
  couriers: ReadonlyMap<WebhookId, Courier>,
): Effect.fn.Return<void, never, Scope.Scope> {
  const clock = yield* Clock.clockWith(Effect.succeed);
  const ageOf = (at: Millis | null): number =>
    at === null ? 0 : Math.max(0, clock.currentTimeMillisUnsafe() - at);
  const longest = (of: (courier: Courier) => Millis) => () => ({
    value: Math.max(0, ...Array.from(couriers.values(), of)) / 1_000,
  });
  yield* readMetric(
    backlog,
    longest(({ oldestAt }) => ageOf(oldestAt)),
  );
  yield* readMetric(
    failing,
    longest(({ webhook }) => ageOf(webhook.oldestFailingAt)),
  );
  yield* readMetric(
    slowest,
    longest(({ latestAttempt }) => latestAttempt),
  );
});
