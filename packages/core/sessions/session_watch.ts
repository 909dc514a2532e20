/**
 * Wakes the open reads of a session when it changes, on every node.
 */
import { Array, Clock, Context, Effect, Layer, Schedule, type Scope } from "effect";
import type { SessionId } from "../ids.ts";
import { KeyStore } from "../keys/key_store.ts";
import { forEachSignal, Signals } from "../signals.ts";
import { warnOnce } from "../telemetry/warn_once.ts";
import { SessionStore } from "./session_store.ts";
import { Subscription, Subscriptions } from "./session_subscriptions.ts";
import type { VerificationSession } from "./verification_session.ts";

/**
 * How often the store is polled for changes whose signal was lost, in milliseconds.
 *
 * @internal
 */
export const changePollInterval = 2_000;

/** How often the keys of open reads are checked, in milliseconds. */
const keyCheckInterval = 500;

/** How far back changes are polled, in milliseconds, for clock differences and late polls. */
const changePollWindow = 15_000;

/** With more subscribed sessions, reading all changes is cheaper than looking up ids. */
const maxPolledIds = 1_000;

/**
 * Subscriptions to sessions, and their notices.
 *
 * @internal
 */
export class SessionWatch extends Context.Service<
  SessionWatch,
  {
    /**
     * Subscribes to a session until the scope closes. The read ends within a second after its key
     * is no longer active.
     *
     * @param read the number of the subscribing read; one with a higher number supersedes it
     */
    readonly subscribe: (
      session: Pick<VerificationSession, "id" | "keyId">,
      read: number,
    ) => Effect.Effect<Subscription, never, Scope.Scope>;

    /** Wakes the reads of changed sessions on every node, by a signal or the next poll. */
    readonly announce: (ids: ReadonlyArray<SessionId>) => Effect.Effect<void>;

    /** Ends earlier reads of the session. */
    readonly supersede: (id: SessionId, read: number) => Effect.Effect<void>;

    /** Ends every read on this node, and later ones as they begin, because the node is stopping. */
    readonly stop: Effect.Effect<void>;
  }
>()("@accountlink/core/SessionWatch") {
  static readonly layer = Layer.effect(
    SessionWatch,
    Effect.gen(function* () {
      const signals = yield* Signals;
      const subscriptions = new Subscriptions(yield* Effect.context());

      // Reads on this node get the signal even if it cannot be published.
      const send = (signal: Signal) => {
        receive(subscriptions, signal);
        return Effect.ignore(signals.publish(topic, encodeSignal(signal)));
      };

      yield* forEachSignal(topic, (message) => receive(subscriptions, decodeSignal(message)));
      yield* pollChanges(subscriptions).pipe(Effect.forkScoped);
      yield* endInactiveReads(subscriptions).pipe(Effect.forkScoped);

      return SessionWatch.of({
        subscribe: ({ id, keyId }, read) =>
          Effect.acquireRelease(
            Effect.sync(() => subscriptions.subscribe(id, new Subscription(keyId, read))),
            (subscription) => Effect.sync(() => subscriptions.unsubscribe(id, subscription)),
          ),
        announce: (ids) =>
          Effect.forEach(Array.chunksOf(ids, idsPerSignal), (changed) => send({ changed }), {
            discard: true,
          }),
        supersede: (id, read) => send({ begun: { id, read } }),
        stop: Effect.sync(() => subscriptions.stop()),
      });
    }),
  );
}

/** What nodes tell each other: sessions that changed, or a read that began. */
type Signal =
  | { readonly changed: ReadonlyArray<SessionId> }
  | { readonly begun: { readonly id: SessionId; readonly read: number } };

const topic = "sessions";
const idsPerSignal = 100;

const encodeSignal = (signal: Signal): string =>
  "changed" in signal ? signal.changed.join(" ") : `${signal.begun.read}:${signal.begun.id}`;

const decodeSignal = (message: string): Signal => {
  const colon = message.indexOf(":");
  return colon === -1
    ? { changed: message.split(" ") as ReadonlyArray<string> as ReadonlyArray<SessionId> }
    : { begun: { read: Number(message.slice(0, colon)), id: message.slice(colon + 1) as SessionId } };
};

const receive = (subscriptions: Subscriptions, signal: Signal): void => {
  if ("begun" in signal) subscriptions.supersede(signal.begun.id, signal.begun.read);
  else for (const id of signal.changed) subscriptions.wake(id);
};

/** Polls the store for changes, since a signal may be lost. */
const pollChanges = Effect.fnUntraced(function* (subscriptions: Subscriptions) {
  const store = yield* SessionStore;
  const poll = yield* warnOnce(
    "Cannot poll changes of sessions",
    Effect.gen(function* () {
      const { sessionIds } = subscriptions;
      if (sessionIds.length === 0) return;
      const since = (yield* Clock.currentTimeMillis) - changePollWindow;
      const among = sessionIds.length > maxPolledIds ? null : sessionIds;
      for (const id of yield* store.changedSince(since, among)) subscriptions.wake(id);
    }),
  );
  yield* Effect.repeat(poll, Schedule.spaced(changePollInterval));
});

/**
 * Ends reads whose key is no longer accepted. It polls the store, so that it holds whoever changed
 * the key, and while signals are down.
 */
const endInactiveReads = Effect.fnUntraced(function* (subscriptions: Subscriptions) {
  const store = yield* KeyStore;
  const check = yield* warnOnce(
    "Cannot check the keys of open reads",
    Effect.gen(function* () {
      const { keyIds } = subscriptions;
      const accepted = new Set(yield* store.acceptedAmong(keyIds, yield* Clock.currentTimeMillis));
      subscriptions.endReadsOf(new Set(keyIds.filter((id) => !accepted.has(id))));
    }),
  );
  while (true) {
    yield* subscriptions.isActive.await;
    yield* Effect.sleep(keyCheckInterval);
    yield* check;
  }
});
