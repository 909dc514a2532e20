/**
 * Wakes those who wait for a session, on every node.
 */
import { Array, Clock, Context, Effect, Layer, Metric, Schedule, type Scope } from "effect";
import type { Sid } from "../ids.ts";
import { hearSignals } from "../internal/hear_signals.ts";
import { warnOnce } from "../internal/warn_once.ts";
import { SessionStore } from "../ports/session_store.ts";
import { Signals } from "../ports/signals.ts";

/** How often the store is asked for changes whose signal was lost, in milliseconds. */
export const healingInterval = 2_000;

/** How far back it is asked: by how much the clocks of nodes may differ, and an interval may come late. */
const healingWindow = 15_000;

/** Beyond so many watched sessions, all that changed are fewer to read than these are to look up. */
const manySids = 1_000;

/** Reads of sessions that are open on this node. */
export const readsOpen = Metric.gauge("accountlink_session_reads_open", {
  description: "Reads of verification sessions that are open: long polls and streams that wait",
});

/**
 * Why a watcher was woken: the session may have changed, or the read is to end, since a later one has taken its place
 * or the node is about to stop.
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
     * Watches a session until the scope closes.
     *
     * @param read the number of the read that watches; one with a higher number takes its place
     */
    readonly watch: (sid: Sid, read: number) => Effect.Effect<Watcher, never, Scope.Scope>;

    /** Wakes who watches the sessions, on every node. A node that the signal does not reach finds out by itself. */
    readonly announce: (sids: ReadonlyArray<Sid>) => Effect.Effect<void>;

    /** Ends every earlier read of the session, now that a later one has begun. */
    readonly supersede: (sid: Sid, read: number) => Effect.Effect<void>;

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

      return SessionWatch.of({
        watch: (sid, read) =>
          Effect.acquireRelease(
            Effect.sync(() => rooms.join(sid, read)),
            (waiting) => Effect.sync(() => rooms.leave(sid, waiting)),
          ),
        announce: (sids) =>
          Effect.forEach(Array.chunksOf(sids, sidsPerSignal), (changed) => tell({ changed }), {
            discard: true,
          }),
        supersede: (sid, read) => tell({ begun: { sid, read } }),
        release: Effect.sync(() => rooms.release()),
      });
    }),
  );
}

/** What nodes tell each other: sessions that changed, or a read that began. */
type Signal =
  | { readonly changed: ReadonlyArray<Sid> }
  | { readonly begun: { readonly sid: Sid; readonly read: number } };

const topic = "sessions";
const sidsPerSignal = 100;

const writeSignal = (signal: Signal): string =>
  "changed" in signal ? signal.changed.join(" ") : `${signal.begun.read}:${signal.begun.sid}`;

const readSignal = (message: string): Signal => {
  const colon = message.indexOf(":");
  return colon === -1
    ? { changed: message.split(" ") as ReadonlyArray<string> as ReadonlyArray<Sid> }
    : { begun: { read: Number(message.slice(0, colon)), sid: message.slice(colon + 1) as Sid } };
};

const receive = (rooms: Rooms, signal: Signal): void => {
  if ("begun" in signal) rooms.supersede(signal.begun.sid, signal.begun.read);
  else for (const sid of signal.changed) rooms.wake(sid);
};

const healForever = Effect.fnUntraced(function* (rooms: Rooms) {
  const store = yield* SessionStore;
  const heal = yield* warnOnce(
    "Changes of sessions are not looked for",
    Effect.gen(function* () {
      const { sids } = rooms;
      if (sids.length === 0) return;
      const since = (yield* Clock.currentTimeMillis) - healingWindow;
      const among = sids.length > manySids ? null : sids;
      for (const sid of yield* store.changedSince(since, among)) rooms.wake(sid);
    }),
  );
  yield* Effect.repeat(heal, Schedule.spaced(healingInterval));
});

/** Those who watch on this node, by session. */
class Rooms {
  readonly #rooms = new Map<Sid, Set<Waiting>>();
  readonly #context: Context.Context<never>;
  #isReleased = false;

  constructor(context: Context.Context<never>) {
    this.#context = context;
    readsOpen.modifyUnsafe(0, context);
  }

  /** The sessions that somebody watches. */
  get sids(): ReadonlyArray<Sid> {
    return [...this.#rooms.keys()];
  }

  join(sid: Sid, read: number): Waiting {
    const waiting = new Waiting(read);
    const room = this.#rooms.get(sid);
    if (room === undefined) this.#rooms.set(sid, new Set([waiting]));
    else room.add(waiting);
    if (this.#isReleased) waiting.end();
    readsOpen.modifyUnsafe(1, this.#context);
    return waiting;
  }

  leave(sid: Sid, waiting: Waiting): void {
    const room = this.#rooms.get(sid);
    room?.delete(waiting);
    if (room?.size === 0) this.#rooms.delete(sid);
    readsOpen.modifyUnsafe(-1, this.#context);
  }

  wake(sid: Sid): void {
    for (const waiting of this.#rooms.get(sid) ?? []) waiting.wake();
  }

  supersede(sid: Sid, read: number): void {
    for (const waiting of this.#rooms.get(sid) ?? []) if (waiting.read < read) waiting.end();
  }

  release(): void {
    this.#isReleased = true;
    for (const room of this.#rooms.values()) for (const waiting of room) waiting.end();
  }
}

/** Holds at most one notice, so that a burst of changes is read once, and nothing while nobody asks. */
class Waiting implements Watcher {
  readonly read: number;
  #notice: Notice | null = null;
  #resume: ((notice: Effect.Effect<Notice>) => void) | null = null;

  constructor(read: number) {
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
