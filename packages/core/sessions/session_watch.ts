import { Array, Clock, Context, Effect, Layer, Metric, Schedule } from "effect";
import type { KeyId, SessionId } from "../ids.ts";
import { KeyChanges } from "../keys/key_changes.ts";
import { endInactiveReaders, Reader, Readers } from "../readers.ts";
import { forEachSignal, Signals } from "../signals.ts";
import { sweepOldEvery } from "../storage_use.ts";
import { warnOnce } from "../telemetry/warn_once.ts";
import { dayMs, type Millis } from "../timestamp.ts";
import { SessionSettings } from "./session_settings.ts";
import { SessionStore, type VerificationSession } from "./session_store.ts";

/** How often the store is polled for changes that no signal has reported, in milliseconds. @internal */
const changePollInterval = 2_000;

/** How far back each poll looks for changes, in milliseconds, to allow for clock differences and late polls. */
const changePollWindow = 15_000;

/** If more sessions than this have open reads, polling for all changes is cheaper than looking up each session. */
const maxPolledIds = 1_000;

/** Wakes the reads that wait for a change of a session, on every node. @internal */
export class SessionWatch extends Context.Service<SessionWatch>()("@accountlink/core/SessionWatch", {
  make: Effect.gen(function* () {
    const signals = yield* Signals;
    const subscriptions: Subscriptions = new Readers();
    yield* Metric.modify(readsOpen, 0);

    // Reads on this node get the signal even if it cannot be published.
    const send = (signal: Signal) => {
      receive(subscriptions, signal);
      return Effect.ignore(signals.publish(topic, JSON.stringify(signal)));
    };

    yield* forEachSignal(topic, (message) => receive(subscriptions, JSON.parse(message)));
    yield* pollChanges(subscriptions).pipe(Effect.forkScoped);
    yield* endInactiveReaders(subscriptions).pipe(Effect.forkScoped);

    return {
      /**
       * Subscribes a read to a session until the scope closes. The read ends within a second after its key becomes
       * inactive.
       */
      subscribe: ({ id, keyId }: Pick<VerificationSession, "id" | "keyId">, isEmbedded = false) =>
        Effect.tap(subscriptions.add(id, new Subscription(id, keyId, isEmbedded)), (subscription) =>
          Effect.addFinalizer(() => (subscription.isOpen ? Metric.modify(readsOpen, -1) : Effect.void)),
        ),

      /** Wakes the reads of changed sessions on every node, by a signal or at the next poll. */
      announce: (ids: ReadonlyArray<SessionId>) =>
        Effect.forEach(Array.chunksOf(ids, idsPerSignal), (changed) => send({ changed }), {
          discard: true,
        }),

      /**
       * Starts the read of a subscription, and ends the session's reads with lower numbers, on every node.
       *
       * @param number from `Counters.admit`; null for a read that neither ends other reads nor is ended by them
       */
      open: (subscription: Subscription, number: number | null) =>
        Effect.suspend(() => {
          subscription.open(number);
          const begun = number === null ? Effect.void : send({ begun: { id: subscription.id, number } });
          return Effect.andThen(Metric.modify(readsOpen, 1), begun);
        }),

      /** Ends the reads of clients on this node, and those that begin until the returned effect runs. */
      stop: subscriptions.stop,
    };
  }),
}) {
  static readonly layer = Layer.effect(SessionWatch, SessionWatch.make).pipe(Layer.provide(KeyChanges.layer));
}

/** A signal between nodes. It reports either that sessions changed, or that a read began. */
type Signal =
  | { readonly changed: ReadonlyArray<SessionId> }
  | { readonly begun: { readonly id: SessionId; readonly number: number } };

const topic = "sessions";
const idsPerSignal = 100;

/** Calls `handle` at every signal of changed sessions, from any node, until the scope closes. */
export const forEachSessionChange = (handle: () => void) =>
  forEachSignal(topic, (message) => {
    if ("changed" in JSON.parse(message)) handle();
  });

const receive = (subscriptions: Subscriptions, signal: Signal): void => {
  if ("begun" in signal) {
    const { id, number } = signal.begun;
    for (const subscription of subscriptions.byId.get(id) ?? []) subscription.supersede(number);
  } else for (const id of signal.changed) subscriptions.wake(id);
};

/** Polls the store for changes, because signals may be lost. */
const pollChanges = Effect.fnUntraced(function* (subscriptions: Subscriptions) {
  const store = yield* SessionStore;
  const poll = yield* warnOnce(
    "Cannot poll changes of sessions",
    Effect.gen(function* () {
      const sessionIds = [...subscriptions.byId.keys()];
      if (sessionIds.length === 0) return;
      const since = (yield* Clock.currentTimeMillis) - changePollWindow;
      const among = sessionIds.length > maxPolledIds ? null : sessionIds;
      for (const id of yield* store.changedSince(since, among)) subscriptions.wake(id);
    }),
  );
  yield* Effect.repeat(poll, Schedule.spaced(changePollInterval));
});

export const readsOpen = Metric.gauge("accountlink_session_reads_open", {
  description: "Reads of verification sessions that are open: long polls and streams that wait",
});

export class Subscription extends Reader {
  readonly id: SessionId;
  #isOpen = false;
  #number: number | null = null;
  /** The highest read number that has been announced for the session. */
  #newest = 0;

  constructor(id: SessionId, keyId: KeyId, isEmbedded: boolean) {
    super(keyId, isEmbedded);
    this.id = id;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Opens the read. It ends at once if a read with a higher number has begun. */
  open(number: number | null): void {
    this.#isOpen = true;
    this.#number = number;
    this.supersede(this.#newest);
  }

  supersede(number: number): void {
    this.#newest = Math.max(this.#newest, number);
    if (this.#number !== null && this.#number < number) this.end();
  }
}

type Subscriptions = Readers<SessionId, Subscription>;

/** How long a session is kept after its deadline, in milliseconds. */
export const keptAfterExpiry = dayMs;

export const sweepForever = Effect.gen(function* () {
  const store = yield* SessionStore;
  const watch = yield* SessionWatch;
  const { sightingRetention } = yield* SessionSettings;
  const sweep = Effect.fnUntraced(function* (at: Millis) {
    const expired = yield* store.sweep({
      at,
      sessionsBefore: at - keptAfterExpiry,
      sightingsBefore: at - sightingRetention,
    });
    yield* watch.announce(expired);
  });
  yield* sweepOldEvery("10 seconds", "Cannot sweep verification sessions", sweep);
});
