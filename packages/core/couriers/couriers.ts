/**
 * A courier carries the events of a feed for one item, such as a webhook, to the receiver of the item. One node at a
 * time holds an item and runs its courier. Other nodes take over the items of a dead node. @internal
 */
import { Clock, Effect, FiberSet, Latch, type Metric, Queue, type Scope } from "effect";
import { uuidV4Unsafe } from "effect/crypto/SecureRandom";
import type { DataScope } from "../data_scope.ts";
import type { StoreEffect } from "../errors.ts";
import { EventStore } from "../events/event_store.ts";
import type { Pid } from "../ids.ts";
import { forEachLinkChange } from "../links/link_events.ts";
import { paced } from "../paced.ts";
import { type HoldItems, leaseShare } from "../records/records.ts";
import { forEachSessionChange } from "../sessions/session_watch.ts";
import { forEachSignal, Signals } from "../signals.ts";
import { StorageUse } from "../storage_use.ts";
import { readMetric } from "../telemetry/metric_reading.ts";
import { warnOnce } from "../telemetry/warn_once.ts";
import { latestTime, type Millis } from "../timestamp.ts";

/** How long a node holds its items after its last heartbeat, in milliseconds. */
const holdTime = 7_000;

/** How often the node looks for free items. */
const interval = "1 second";

/**
 * How long a node looks for free items alone after a look for changes and events of many items, in milliseconds: each look
 * reads all of them. Up to 2,500 items, it does not rest.
 */
const restAfter = (items: number): number => Math.min(4_000, 0.4 * items - 1_000);

/**
 * A node takes at most as many items at once as it holds, within these bounds. So nodes that start together share the
 * items, and the items of a dead node soon have another node.
 */
const [fewestTaken, mostTaken] = [50, 500];

/** How long after its stop a node waits for the requests of all its couriers, in milliseconds. */
const drainTime = 10_000;

/** How many couriers start before the process does other work. */
const startedAtOnce = 50;

/** How soon the store is polled after a signal of a change, in milliseconds. */
const pollDelay = 20;

/** An item that the store gave to this node. */
interface Held {
  readonly scope: DataScope;
  /** Every event up to this feed position was carried, or was stored to be carried later. */
  readonly position: number;
}

export interface Courier<Item extends Held> {
  item: Item;
  position: number;
  /** Whether the feed may have events after `position`. */
  hasNews: boolean;
  isRunning: boolean;
  /** Whether the courier must end, for example because its item was paused. */
  isStopping: boolean;
  /** Wakes the courier after a change. */
  readonly changes: Queue.Queue<void>;
}

export interface CourierNode {
  readonly id: string;
  /** The end of the node's lease. After the lease ends, the node's couriers must stop. */
  livesUntil: Millis;
  isStopping: boolean;
  /** When a stopping node interrupts its couriers that still run. */
  drainsUntil: Millis;
}

export const makeNode = (): CourierNode => ({
  id: uuidV4Unsafe(),
  livesUntil: 0,
  isStopping: false,
  drainsUntil: 0,
});

/** Waits until running work of a stopping node ends, or is given up. */
export const awaitDrained = (node: CourierNode, running: FiberSet.FiberSet) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.ignore(Effect.timeout(FiberSet.awaitEmpty(running), Math.max(0, node.drainsUntil - now))),
  );

/**
 * Returns whether a courier may carry another event: neither it nor its node is stopping, and the node's lease has not
 * ended.
 */
export const isCarrying = (
  { isStopping, livesUntil }: CourierNode,
  courier: { readonly isStopping: boolean },
  now: Millis,
): boolean => !isStopping && !courier.isStopping && now < livesUntil;

export const longestRetryDelay = 600_000;

/**
 * Returns how long to wait before the next attempt, in milliseconds: a tenth of the time waited so far, but at least 5
 * seconds and at most `longestRetryDelay`.
 */
export const retryDelay = (waited: Millis): Millis =>
  Math.min(longestRetryDelay, Math.max(5_000, Math.ceil(waited / 10)));

/**
 * Returns up to which time work is due: now, or forever if the next work is further off than any work can be, since the
 * clock was set back.
 *
 * @param longest the longest time after which work is due again, in milliseconds
 */
export const dueUntil = (next: Millis | null, now: Millis, longest: Millis): Millis =>
  next !== null && next > now + longest ? latestTime : now;

type ItemTopic = "webhooks" | "role_plans" | "guild_logs";

/**
 * Makes an effect that signals that an item changed. Signals can be lost, so nodes also look for changes every second.
 */
export const makeAnnounceItems = (topic: ItemTopic) =>
  Effect.map(Signals, ({ publish }) => Effect.ignore(publish(topic, "")));

interface CourierWork<Item extends Held, C extends Courier<Item>> {
  /** The signals about changes of items, see `makeAnnounceItems`. */
  readonly topic: ItemTopic;
  /** The name of the items in log messages, such as `webhooks`. */
  readonly items: string;
  /** The log message for a failed run of a courier. */
  readonly problem: string;
  readonly node: CourierNode;
  readonly hold: (hold: HoldItems) => StoreEffect<ReadonlyArray<Item>>;
  readonly idOf: (item: Item) => string;
  readonly make: (courier: Courier<Item>) => C;
  /** Processes events for the courier's webhook or role plan until no event is left. */
  readonly run: (courier: C) => StoreEffect<void>;
  /** Whether a courier has work besides new events. */
  readonly isDue: (courier: C, at: Millis) => boolean;
  /** Whether couriers carry events of sessions too. */
  readonly hearsSessions?: true;
}

interface Couriers<C> {
  readonly all: ReadonlyMap<string, C>;
  /** Starts no more work, because the node is stopping. Work in progress ends before the scope closes. */
  readonly stop: Effect.Effect<void>;
}

/** Takes items and runs their couriers until the scope closes. */
export const makeCouriers = Effect.fnUntraced(function* <Item extends Held, C extends Courier<Item>>({
  items,
  node,
  hold,
  idOf,
  ...work
}: CourierWork<Item, C>): Effect.fn.Return<Couriers<C>, never, EventStore | Signals | Scope.Scope> {
  const events = yield* EventStore;
  const { resting } = yield* StorageUse;
  const runs = yield* FiberSet.make();
  let started = 0;
  const couriers = new Map<string, C>();
  /** Opens after a signal that an item changed. */
  const isTakeDue = Latch.makeUnsafe(false);
  /** What the node held at its last look for changes, and when the next one is due. */
  let known: ReadonlyArray<Item> = [];
  let lookAt = 0;
  /** Opens after a signal of a link or session that changed. */
  const isPollDue = Latch.makeUnsafe(false);
  /** The scopes whose events the next poll looks for; null for all. */
  let changed: Set<Pid> | null = null;

  const stop = Effect.gen(function* () {
    if (!node.isStopping) node.drainsUntil = (yield* Clock.currentTimeMillis) + drainTime;
    node.isStopping = true;
    for (const { changes } of couriers.values()) yield* Queue.offer(changes, undefined);
  });

  /** Waits until running couriers end, and lets other nodes take the items. */
  const release = Effect.gen(function* () {
    yield* stop;
    yield* awaitDrained(node, runs);
    const at = yield* Clock.currentTimeMillis;
    const letGo = hold({ node: node.id, at, until: at, limit: 0 });
    if (couriers.size > 0) yield* Effect.ignore(Effect.timeout(letGo, "2 seconds"));
  });

  const start = Effect.fnUntraced(function* (courier: C) {
    courier.isRunning = true;
    const running = yield* warnOnce(work.problem, work.run(courier));
    const ended = Effect.sync(() => {
      courier.isRunning = false;
    });
    yield* FiberSet.run(runs, Effect.ensuring(running, ended));
    // The first statements of hundreds of couriers would keep the process from all other work.
    if (++started % startedAtOnce === 0) yield* Effect.yieldNow;
  });

  const wake = (courier: C): Effect.Effect<unknown> =>
    courier.isRunning || courier.isStopping ? Queue.offer(courier.changes, undefined) : start(courier);

  const update = Effect.fnUntraced(function* (held: ReadonlyArray<Item>) {
    for (const item of held) {
      const courier = couriers.get(idOf(item));
      if (courier === undefined) couriers.set(idOf(item), work.make(yield* makeCourier(item)));
      else if (!courier.isStopping) courier.item = item;
    }
    const ids = new Set(held.map(idOf));
    for (const [id, courier] of couriers) {
      if (ids.has(id) && !courier.isStopping) continue;
      courier.isStopping = true;
      yield* Queue.offer(courier.changes, undefined);
      if (!courier.isRunning) couriers.delete(id);
    }
  });

  /** Looks for new events. */
  const poll = Effect.gen(function* () {
    isPollDue.closeUnsafe();
    const among = changed;
    changed = new Set();
    const all = [...couriers.values()].filter(
      ({ item, isStopping }) => !isStopping && among?.has(item.scope.pid) !== false,
    );
    if (node.isStopping || all.length === 0) return;
    const places = all.map(({ item, position }) => ({ pid: item.scope.pid, after: position }));
    const newer = new Set(yield* events.newer(places));
    for (const courier of all) {
      if (!newer.has(courier.item.scope.pid)) continue;
      courier.hasNews = true;
      yield* wake(courier);
    }
  });

  const pollLink = (pid: Pid) => {
    changed?.add(pid);
    isPollDue.openUnsafe();
  };
  const pollAll = () => {
    changed = null;
    isPollDue.openUnsafe();
  };
  const subscribe = yield* Effect.cached(
    Effect.andThen(
      forEachLinkChange(pollLink),
      work.hearsSessions === true ? forEachSessionChange(pollAll) : Effect.void,
    ),
  );

  /** Takes items, and updates their couriers. */
  const take = Effect.gen(function* () {
    if (node.isStopping || resting() !== null) return;
    const at = yield* Clock.currentTimeMillis;
    const limit = Math.min(mostTaken, Math.max(fewestTaken, couriers.size));
    const isResting = lookAt > dueUntil(lookAt, at, restAfter(Infinity));
    const lease = { node: node.id, at, until: at + holdTime, limit };
    const held = yield* hold(isResting ? { ...lease, known } : lease);
    node.livesUntil = at + leaseShare * holdTime;
    const isLook = !isResting || held !== known;
    if (isLook) {
      lookAt = at + restAfter(held.length);
      known = held;
      yield* update(held);
    }
    // A node receives signals from its first courier on.
    if (couriers.size > 0) yield* subscribe;
    for (const courier of couriers.values()) {
      if (courier.hasNews || work.isDue(courier, at)) yield* wake(courier);
    }
    if (!isLook) return;
    changed = null;
    yield* poll;
  });

  const taking = yield* warnOnce(`Cannot look for ${items}`, take);
  const polling = yield* warnOnce(`Cannot look for events of ${items}`, poll);
  yield* Effect.addFinalizer(() => release);
  const untilTake = Effect.andThen(Effect.timeoutOption(isTakeDue.await, interval), isTakeDue.close);
  // A node with thousands of items would do nothing but look for them if each signal made it look at once.
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(paced(0, taking), untilTake)));
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(isPollDue.await, paced(pollDelay, polling))));
  yield* forEachSignal(work.topic, () => {
    lookAt = 0;
    isTakeDue.openUnsafe();
  });
  return { all: couriers, stop };
});

/** Exports the greatest of what the couriers of a node say, such as an age in milliseconds, in seconds. */
export const readGreatest = <C>(
  metric: Metric.Gauge<number>,
  { all }: Pick<Couriers<C>, "all">,
  millisOf: (courier: C, now: Millis) => number,
) =>
  readMetric(metric, (now) => {
    let greatest = 0;
    for (const courier of all.values()) greatest = Math.max(greatest, millisOf(courier, now));
    return { value: greatest / 1_000 };
  });

const makeCourier = <Item extends Held>(item: Item): Effect.Effect<Courier<Item>> =>
  Effect.map(Queue.sliding<void>(1), (changes) => ({
    item,
    position: item.position,
    hasNews: true,
    isRunning: false,
    isStopping: false,
    changes,
  }));
