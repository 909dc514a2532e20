import { Clock, Context, Effect, Latch, Layer, Metric, Option, type Scope } from "effect";
import type { KeyId, Pid } from "../ids.ts";
import { KeyStore } from "../keys/key_store.ts";
import { forEachLinkChange } from "../links/link_events.ts";
import { Notices } from "../notices.ts";
import { paced } from "../paced.ts";
import { forEachSessionChange } from "../sessions/session_watch.ts";
import { warnOnce } from "../telemetry/warn_once.ts";
import { EventStore, type FeedPlace } from "./event_store.ts";

/**
 * How often the store is polled for events without a signal: from imports, the command line, and nodes without Redis.
 * In milliseconds.
 */
const pollInterval = 750;

/** How soon the store is polled after a signal that names no scope, in milliseconds. */
const pollDelay = 20;

/** How often the keys of waiting readers are checked, in milliseconds. */
const keyCheckInterval = 500;

/** A reader that waits for events of a scope. @internal */
export class EventSubscription extends Notices {
  readonly pid: Pid;
  readonly keyId: KeyId | null;
  /** The position up to which the reader has seen all events. */
  after: number;

  constructor(pid: Pid, after: number, keyId: KeyId | null) {
    super();
    this.pid = pid;
    this.after = after;
    this.keyId = keyId;
  }
}

/** Wakes readers that wait for events of a scope, on every node. Without subscriptions nothing is polled. @internal */
export class EventWatch extends Context.Service<
  EventWatch,
  {
    /**
     * Subscribes to the events of a data scope until the Effect `Scope` closes. The caller keeps `after` up to date.
     *
     * @param keyId the reader's API key; the subscription ends within a second after the key becomes inactive
     */
    readonly subscribe: (
      pid: Pid,
      after: number,
      keyId: KeyId | null,
    ) => Effect.Effect<EventSubscription, never, Scope.Scope>;

    /** Ends all waits on this node, and all later ones at once, because the node is stopping. */
    readonly stop: Effect.Effect<void>;
  }
>()("@accountlink/core/EventWatch") {
  static readonly layer = Layer.effect(
    EventWatch,
    Effect.gen(function* () {
      const waiting = new Waiting(yield* Effect.context());
      yield* forEachLinkChange((pidOf) => {
        if (waiting.isActive.isOpen()) waiting.wake(pidOf());
      });
      yield* forEachSessionChange(() => waiting.isPollDue.openUnsafe());
      yield* Effect.forkScoped(pollEvents(waiting));
      yield* Effect.forkScoped(endInactiveReaders(waiting));
      return EventWatch.of({
        subscribe: (pid, after, keyId) =>
          Effect.acquireRelease(
            Effect.sync(() => waiting.add(new EventSubscription(pid, after, keyId))),
            (subscription) => Effect.sync(() => waiting.remove(subscription)),
          ),
        stop: Effect.sync(() => waiting.stop()),
      });
    }),
  );
}

/** Asks the store in one query which of the awaited scopes have events. */
const pollEvents = Effect.fnUntraced(function* (waiting: Waiting) {
  const store = yield* EventStore;
  const poll = yield* warnOnce(
    "Cannot look for new events",
    Effect.gen(function* () {
      waiting.isPollDue.closeUnsafe();
      const { places } = waiting;
      if (places.length === 0) return;
      for (const pid of yield* store.newer(places)) waiting.wake(pid);
    }),
  );
  const pollSoon = paced(pollDelay, poll);
  while (true) {
    yield* waiting.isActive.await;
    const signal = yield* Effect.timeoutOption(waiting.isPollDue.await, pollInterval);
    yield* Option.isSome(signal) ? pollSoon : poll;
  }
});

/** Polls the store, which notices key changes made anywhere, even while signals are down. */
const endInactiveReaders = Effect.fnUntraced(function* (waiting: Waiting) {
  const store = yield* KeyStore;
  const check = yield* warnOnce(
    "Cannot check the keys of waiting readers",
    Effect.gen(function* () {
      const { keyIds } = waiting;
      if (keyIds.length === 0) return;
      const accepted = new Set(yield* store.acceptedAmong(keyIds, yield* Clock.currentTimeMillis));
      waiting.endReadersOf(new Set(keyIds.filter((id) => !accepted.has(id))));
    }),
  );
  while (true) {
    yield* waiting.isActive.await;
    yield* Effect.sleep(keyCheckInterval);
    yield* check;
  }
});

/** The number of readers that wait for events on this node. @internal */
export const readersWaiting = Metric.gauge("accountlink_event_readers_waiting", {
  description: "Readers of events that wait: long polls, streams and embedders",
});

class Waiting {
  readonly #byScope = new Map<Pid, Set<EventSubscription>>();
  readonly #context: Context.Context<never>;
  /** Open while there are subscriptions. */
  readonly isActive = Latch.makeUnsafe(false);
  /** Open after a change whose scope is unknown. */
  readonly isPollDue = Latch.makeUnsafe(false);
  #isStopping = false;

  constructor(context: Context.Context<never>) {
    this.#context = context;
    readersWaiting.modifyUnsafe(0, context);
  }

  /**
   * Each awaited scope with the least position of its waiting readers. Streams with slow clients are left out, since
   * polling from their position would wake all other readers again and again.
   */
  get places(): ReadonlyArray<FeedPlace> {
    return Array.from(this.#byScope, ([pid, readers]) => {
      let after = Infinity;
      for (const reader of readers) if (reader.isAwaited) after = Math.min(after, reader.after);
      return { pid, after };
    }).filter(({ after }) => after !== Infinity);
  }

  get keyIds(): ReadonlyArray<KeyId> {
    const ids = new Set<KeyId>();
    for (const { keyId } of this.#all()) if (keyId !== null) ids.add(keyId);
    return [...ids];
  }

  add(subscription: EventSubscription): EventSubscription {
    const { pid } = subscription;
    const readers = this.#byScope.get(pid);
    if (readers === undefined) this.#byScope.set(pid, new Set([subscription]));
    else readers.add(subscription);
    this.isActive.openUnsafe();
    readersWaiting.modifyUnsafe(1, this.#context);
    if (this.#isStopping) subscription.end();
    return subscription;
  }

  remove(subscription: EventSubscription): void {
    const { pid } = subscription;
    const readers = this.#byScope.get(pid);
    readers?.delete(subscription);
    if (readers?.size === 0) this.#byScope.delete(pid);
    if (this.#byScope.size === 0) this.isActive.closeUnsafe();
    readersWaiting.modifyUnsafe(-1, this.#context);
  }

  wake(pid: Pid): void {
    for (const subscription of this.#byScope.get(pid) ?? []) subscription.wake();
  }

  endReadersOf(keyIds: ReadonlySet<KeyId>): void {
    if (keyIds.size === 0) return;
    for (const reader of this.#all()) if (reader.keyId !== null && keyIds.has(reader.keyId)) reader.end();
  }

  /** Ends all waits, and later ones as soon as they begin. */
  stop(): void {
    this.#isStopping = true;
    for (const subscription of this.#all()) subscription.end();
  }

  *#all(): Iterable<EventSubscription> {
    for (const readers of this.#byScope.values()) yield* readers;
  }
}
