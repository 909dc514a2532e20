/** The open reads of this node, by session and by key. */
import { type Context, Effect, Latch, Metric } from "effect";
import type { KeyId, SessionId } from "../ids.ts";

/** Reads of sessions that are open on this node. */
export const readsOpen = Metric.gauge("accountlink_session_reads_open", {
  description: "Reads of verification sessions that are open: long polls and streams that wait",
});

/**
 * What a subscription reports: the session may have changed; or the read has to end, because a
 * later one replaced it, its key is no longer active, or the node is stopping.
 */
export type Notice = "changed" | "end";

/** Holds at most one notice, so that a burst of changes is read once. */
export class Subscription {
  readonly keyId: KeyId;
  readonly read: number;
  #notice: Notice | null = null;
  #resume: ((notice: Effect.Effect<Notice>) => void) | null = null;

  constructor(keyId: KeyId, read: number) {
    this.keyId = keyId;
    this.read = read;
  }

  /** Waits for the next notice. Allows one caller at a time. */
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

/** All subscriptions of this node. */
export class Subscriptions {
  readonly #bySession = new Map<SessionId, Set<Subscription>>();
  readonly #context: Context.Context<never>;
  /** Open while there are subscriptions. */
  readonly isActive = Latch.makeUnsafe(false);
  #isStopping = false;

  constructor(context: Context.Context<never>) {
    this.#context = context;
    readsOpen.modifyUnsafe(0, context);
  }

  get sessionIds(): ReadonlyArray<SessionId> {
    return [...this.#bySession.keys()];
  }

  get keyIds(): ReadonlyArray<KeyId> {
    const ids = new Set<KeyId>();
    for (const { keyId } of this.#all()) ids.add(keyId);
    return [...ids];
  }

  subscribe(id: SessionId, subscription: Subscription): Subscription {
    const ofSession = this.#bySession.get(id);
    if (ofSession === undefined) this.#bySession.set(id, new Set([subscription]));
    else ofSession.add(subscription);
    this.isActive.openUnsafe();
    if (this.#isStopping) subscription.end();
    readsOpen.modifyUnsafe(1, this.#context);
    return subscription;
  }

  unsubscribe(id: SessionId, subscription: Subscription): void {
    const ofSession = this.#bySession.get(id);
    ofSession?.delete(subscription);
    if (ofSession?.size === 0) this.#bySession.delete(id);
    if (this.#bySession.size === 0) this.isActive.closeUnsafe();
    readsOpen.modifyUnsafe(-1, this.#context);
  }

  wake(id: SessionId): void {
    for (const subscription of this.#bySession.get(id) ?? []) subscription.wake();
  }

  /** Ends the reads of a session before the given one. */
  supersede(id: SessionId, read: number): void {
    for (const subscription of this.#bySession.get(id) ?? []) {
      if (subscription.read < read) subscription.end();
    }
  }

  endReadsOf(keyIds: ReadonlySet<KeyId>): void {
    if (keyIds.size === 0) return;
    for (const subscription of this.#all()) if (keyIds.has(subscription.keyId)) subscription.end();
  }

  /** Ends every read, and later ones as they begin. */
  stop(): void {
    this.#isStopping = true;
    for (const subscription of this.#all()) subscription.end();
  }

  *#all(): Iterable<Subscription> {
    for (const ofSession of this.#bySession.values()) yield* ofSession;
  }
}
