/**
 * Wakes those who wait for a session, on every node.
 */
import { Array, Clock, Context, Effect, Latch, Layer, Metric, Schedule, type Scope } from "effect";
import type { KeyId, SessionId } from "../ids.ts";
import { hearSignals } from "../internal/hear_signals.ts";
import { warnOnce } from "../internal/warn_once.ts";
import { KeyStore } from "../ports/key_store.ts";
import { SessionStore } from "../ports/session_store.ts";
import { Signals } from "../ports/signals.ts";
import type { VerificationSession } from "../verification_session.ts";

/** How often the store is asked for changes whose signal was lost, in milliseconds. */
export const healingInterval = 2_000;

/** How often the keys of open reads are looked up, in milliseconds: a revocation ends them within a second. */
const keyCheckInterval = 500;

/** How far back it is asked: by how much the clocks of nodes may differ, and an interval may come late. */
const healingWindow = 15_000;

/** Beyond so many watched sessions, all that changed are fewer to read than these are to look up. */
const manySids = 1_000;

/** Reads of sessions that are open on this node. */
export const readsOpen = Metric.gauge("accountlink_session_reads_open", {
  description: "Reads of verification sessions that are open: long polls and streams that wait",
});

/**
 * Why a watcher was woken: the session may have changed, or the read is to end, since a later one has taken its place,
 * its key is no longer active, or the node is about to stop.
 */
export type Notice = "changed" | "end";

/** One who waits for a session. */
export interface Watcher {
  /** What happened since the last notice, or what happens next. A watcher has one caller at a time. */
  readonly next: Effect.Effect<Notice>;
}

/** Tells watchers of sessions what happens to them. */
export class SessionWatch extends Context.Service<
  SessionWatch,
  {
    /**
     * Watches a session until the scope closes. The read ends within a second when its key is no longer active.
     *
     * @param read the number of the read that watches; one with a higher number takes its place
     */
    readonly watch: (
      session: Pick<VerificationSession, "id" | "keyId">,
      read: number,
    ) => Effect.Effect<Watcher, never, Scope.Scope>;

    /** Wakes who watches the sessions, on every node. A node that the signal does not reach finds out by itself. */
    readonly announce: (ids: ReadonlyArray<SessionId>) => Effect.Effect<void>;

    /** Ends every earlier read of the session, now that a later one has begun. */
    readonly supersede: (id: SessionId, read: number) => Effect.Effect<void>;

    /** Ends every read on this node, and each that begins later at once: the node is about to stop. */
    readonly release: Effect.Effect<void>;
  }
>()("@accountlink/core/SessionWatch") {
  static readonly layer = Layer.effect(
    SessionWatch,
    Effect.gen(function* () {
      const signals = yield* Signals;
      const rooms = new Rooms(yield* Effect.context());

      // Those on this node are told even when the signal cannot be sent.
      const tell = (signal: Signal) => {
        receive(rooms, signal);
        return Effect.ignore(signals.publish(topic, writeSignal(signal)));
      };

      yield* hearSignals(topic, (message) => receive(rooms, readSignal(message)));
      yield* healForever(rooms).pipe(Effect.forkScoped);
      yield* endInactiveForever(rooms).pipe(Effect.forkScoped);

      return SessionWatch.of({
        watch: ({ id, keyId }, read) =>
          Effect.acquireRelease(
            Effect.sync(() => rooms.join(id, new Waiting(keyId, read))),
            (waiting) => Effect.sync(() => rooms.leave(id, waiting)),
          ),
        announce: (ids) =>
          Effect.forEach(Array.chunksOf(ids, idsPerSignal), (changed) => tell({ changed }), {
            discard: true,
          }),
        supersede: (id, read) => tell({ begun: { id, read } }),
        release: Effect.sync(() => rooms.release()),
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

const writeSignal = (signal: Signal): string =>
  "changed" in signal ? signal.changed.join(" ") : `${signal.begun.read}:${signal.begun.id}`;

const readSignal = (message: string): Signal => {
  const colon = message.indexOf(":");
  return colon === -1
    ? { changed: message.split(" ") as ReadonlyArray<string> as ReadonlyArray<SessionId> }
    : { begun: { read: Number(message.slice(0, colon)), id: message.slice(colon + 1) as SessionId } };
};

const receive = (rooms: Rooms, signal: Signal): void => {
  if ("begun" in signal) rooms.supersede(signal.begun.id, signal.begun.read);
  else for (const id of signal.changed) rooms.wake(id);
};

const healForever = Effect.fnUntraced(function* (rooms: Rooms) {
  const store = yield* SessionStore;
  const heal = yield* warnOnce(
    "Changes of sessions are not looked for",
    Effect.gen(function* () {
      const { ids } = rooms;
      if (ids.length === 0) return;
      const since = (yield* Clock.currentTimeMillis) - healingWindow;
      const among = ids.length > manySids ? null : ids;
      for (const id of yield* store.changedSince(since, among)) rooms.wake(id);
    }),
  );
  yield* Effect.repeat(heal, Schedule.spaced(healingInterval));
});

/**
 * Ends the reads whose key was revoked or disabled, or has ended. The store is asked and no signal awaited, so that it
 * holds whoever changed the key, and while signals are down.
 */
const endInactiveForever = Effect.fnUntraced(function* (rooms: Rooms) {
  const store = yield* KeyStore;
  const endInactive = yield* warnOnce(
    "Open reads of revoked keys are not looked for",
    Effect.gen(function* () {
      const { keyIds } = rooms;
      const accepted = new Set(yield* store.acceptedAmong(keyIds, yield* Clock.currentTimeMillis));
      rooms.endReadsOf(new Set(keyIds.filter((id) => !accepted.has(id))));
    }),
  );
  while (true) {
    yield* rooms.isWatched.await;
    yield* Effect.sleep(keyCheckInterval);
    yield* endInactive;
  }
});

/** Those who watch on this node, by session. */
class Rooms {
  readonly #rooms = new Map<SessionId, Set<Waiting>>();
  readonly #context: Context.Context<never>;
  /** Open while somebody watches. */
  readonly isWatched = Latch.makeUnsafe(false);
  #isReleased = false;

  constructor(context: Context.Context<never>) {
    this.#context = context;
    readsOpen.modifyUnsafe(0, context);
  }

  /** The sessions that somebody watches. */
  get ids(): ReadonlyArray<SessionId> {
    return [...this.#rooms.keys()];
  }

  /** The keys of those who watch. */
  get keyIds(): ReadonlyArray<KeyId> {
    const ids = new Set<KeyId>();
    for (const waiting of this.#all()) ids.add(waiting.keyId);
    return [...ids];
  }

  join(id: SessionId, waiting: Waiting): Waiting {
    const room = this.#rooms.get(id);
    if (room === undefined) this.#rooms.set(id, new Set([waiting]));
    else room.add(waiting);
    this.isWatched.openUnsafe();
    if (this.#isReleased) waiting.end();
    readsOpen.modifyUnsafe(1, this.#context);
    return waiting;
  }

  leave(id: SessionId, waiting: Waiting): void {
    const room = this.#rooms.get(id);
    room?.delete(waiting);
    if (room?.size === 0) this.#rooms.delete(id);
    if (this.#rooms.size === 0) this.isWatched.closeUnsafe();
    readsOpen.modifyUnsafe(-1, this.#context);
  }

  wake(id: SessionId): void {
    for (const waiting of this.#rooms.get(id) ?? []) waiting.wake();
  }

  supersede(id: SessionId, read: number): void {
    for (const waiting of this.#rooms.get(id) ?? []) if (waiting.read < read) waiting.end();
  }

  endReadsOf(keyIds: ReadonlySet<KeyId>): void {
    if (keyIds.size === 0) return;
    for (const waiting of this.#all()) if (keyIds.has(waiting.keyId)) waiting.end();
  }

  release(): void {
    this.#isReleased = true;
    for (const waiting of this.#all()) waiting.end();
  }

  *#all(): Iterable<Waiting> {
    for (const room of this.#rooms.values()) yield* room;
  }
}

/** Holds at most one notice, so that a burst of changes is read once, and nothing while nobody asks. */
class Waiting implements Watcher {
  readonly keyId: KeyId;
  readonly read: number;
  #notice: Notice | null = null;
  #resume: ((notice: Effect.Effect<Notice>) => void) | null = null;

  constructor(keyId: KeyId, read: number) {
    this.keyId = keyId;
    this.read = read;
  }

  readonly next: Effect.Effect<Notice> = Effect.callback((resume) => {
    this.#resume = resume;
    this.#deliver();
    return Effect.sync(() => {
      this.#resume = null;
    });
  });

  wake(): void {
    this.#notice ??= "changed";
    this.#deliver();
  }

  end(): void {
    this.#notice = "end";
    this.#deliver();
  }

  #deliver(): void {
    if (this.#notice === null || this.#resume === null) return;
    const [notice, resume] = [this.#notice, this.#resume];
    this.#resume = null;
    if (notice === "changed") this.#notice = null;
    resume(Effect.succeed(notice));
  }
}
