import { Clock, Context, Effect, Latch, Layer, Metric, Option, type Scope } from "effect";
import { RateLimited } from "../errors.ts";
import type { KeyId, Pid } from "../ids.ts";
import { KeyChanges } from "../keys/key_changes.ts";
import { secondsUntil } from "../limits/request_limits.ts";
import { forEachLinkChange } from "../links/link_events.ts";
import { monotonicMillisOf } from "../monotonic_millis.ts";
import { paced } from "../paced.ts";
import { endInactiveReaders, Reader, Readers } from "../readers.ts";
import { forEachSessionChange } from "../sessions/session_watch.ts";
import { warnOnce } from "../telemetry/warn_once.ts";
import type { Millis } from "../timestamp.ts";
import { EventStore, type FeedPlace } from "./event_store.ts";

/**
 * How often the store is polled, in milliseconds. Polling finds events without a signal: from imports, the command
 * line, and nodes without Redis.
 */
const pollInterval = 750;

/** How soon the store is polled after a signal that names no scope, in milliseconds. */
const pollDelay = 20;

/** A reader that waits for events of a scope. @internal */
export class EventSubscription extends Reader {
  readonly pid: Pid;
  /** The position up to which the reader has seen all events. */
  after: number;

  constructor(pid: Pid, after: number, keyId: KeyId | null) {
    super(keyId);
    this.pid = pid;
    this.after = after;
  }
}

/**
 * Wakes readers that wait for events of a scope, on every node. While no reader waits, the store is not polled.
 * @internal
 */
export class EventWatch extends Context.Service<EventWatch>()("@accountlink/core/EventWatch", {
  make: Effect.gen(function* () {
    const readers: EventReaders = new Readers();
    yield* Effect.forkScoped(wakeReaders(readers));
    yield* Effect.forkScoped(endInactiveReaders(readers));
    yield* Metric.modify(readersWaiting, 0);
    return {
      /**
       * Subscribes to the events of a data scope until the Effect `Scope` closes. While subscribed, the caller must keep
       * the subscription's field `after` up to date.
       *
       * @param keyId the reader's API key; the subscription ends within a second after the key becomes inactive, and at
       *   the signal of another change
       */
      subscribe: (pid: Pid, after: number, keyId: KeyId | null) =>
        Effect.andThen(
          Effect.acquireRelease(Metric.modify(readersWaiting, 1), () => Metric.modify(readersWaiting, -1)),
          Effect.suspend(() => readers.add(pid, new EventSubscription(pid, after, keyId))),
        ),

      /** Ends the waits of clients on this node, and those that begin until the returned effect runs. */
      stop: readers.stop,
    };
  }),
}) {
  static readonly layer = Layer.effect(EventWatch, EventWatch.make).pipe(Layer.provide(KeyChanges.layer));
}

type EventReaders = Readers<Pid, EventSubscription>;

/**
 * Wakes the readers of a scope when a signal names it, and polls the store: one query returns which of the awaited
 * scopes have events. A node receives signals from its first reader on.
 */
const wakeReaders = Effect.fnUntraced(function* (readers: EventReaders) {
  const store = yield* EventStore;
  /** A latch that opens after a change whose scope is unknown. */
  const isPollDue = Latch.makeUnsafe(false);
  const poll = yield* warnOnce(
    "Cannot look for new events",
    Effect.gen(function* () {
      isPollDue.closeUnsafe();
      const places = awaitedPlaces(readers);
      if (places.length === 0) return;
      for (const pid of yield* store.newer(places)) readers.wake(pid);
    }),
  );
  const pollSoon = paced(pollDelay, poll);
  yield* readers.isActive.await;
  yield* forEachLinkChange((pid) => readers.wake(pid));
  yield* forEachSessionChange(() => isPollDue.openUnsafe());
  while (true) {
    yield* readers.isActive.await;
    const signal = yield* Effect.timeoutOption(isPollDue.await, pollInterval);
    yield* Option.isSome(signal) ? pollSoon : poll;
  }
});

/**
 * Returns each awaited scope with the least position of its waiting readers. Streams with slow clients are left out,
 * since polling from their position would wake all other readers again and again.
 */
const awaitedPlaces = ({ byId }: EventReaders): ReadonlyArray<FeedPlace> =>
  Array.from(byId, ([pid, readers]) => {
    let after = Infinity;
    for (const reader of readers) if (reader.isAwaited) after = Math.min(after, reader.after);
    return { pid, after };
  }).filter(({ after }) => after !== Infinity);

const readersWaiting = Metric.gauge("accountlink_event_readers_waiting", {
  description: "Readers of events that wait: long polls, streams and embedders",
});

/** The maximum number of long polls and streams of one key on a node. */
const maxReaders = 16;

/**
 * The longest `Retry-After`, in milliseconds. If one of the waiting readers ends sooner, `Retry-After` is the time
 * until its end.
 */
const longestRetry = 30_000;

/** Limits how many readers of a key wait on this node. A reader counts until its scope closes. @internal */
export const makeReaderLimit = () => {
  const ends = new Map<KeyId, Set<{ readonly until: Millis }>>();
  return (keyId: KeyId | null, until: Millis): Effect.Effect<void, RateLimited, Scope.Scope> => {
    if (keyId === null) return Effect.void;
    const reader = { until };
    const enter = Effect.flatMap(Clock.Clock, (clock) => {
      const now = clock.currentTimeMillisUnsafe();
      const open = ends.get(keyId) ?? new Set();
      if (open.size >= maxReaders) {
        const left = Math.min(...Array.from(open, (other) => other.until)) - monotonicMillisOf(clock);
        const resetsAt = now + Math.ceil(Math.min(longestRetry, left));
        const retryAfter = secondsUntil(resetsAt, now, longestRetry);
        return new RateLimited({ bucket: "event_readers", limit: maxReaders, resetsAt, retryAfter });
      }
      ends.set(keyId, open.add(reader));
      return Effect.void;
    });
    const leave = Effect.sync(() => {
      const open = ends.get(keyId);
      open?.delete(reader);
      if (open?.size === 0) ends.delete(keyId);
    });
    return Effect.asVoid(Effect.acquireRelease(enter, () => leave));
  };
};
