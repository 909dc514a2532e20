/** An open read waits for new events of a scope, or for a change of a session. */
import { Clock, Effect, Latch, type Scope } from "effect";
import type { KeyId } from "./ids.ts";
import { KeyChanges } from "./keys/key_changes.ts";
import { KeyStore } from "./keys/key_store.ts";
import { warnOnce } from "./telemetry/warn_once.ts";

/**
 * A notice for an open read: something may have changed, or the read must end because a later read replaced it, its key
 * is no longer active, or the node is stopping.
 */
export type Notice = "changed" | "end";

/** An open read. It holds at most one notice, so that a burst of changes causes one read of the store. */
export class Reader {
  /** Null if the embedding process reads, because it has no key. */
  readonly keyId: KeyId | null;
  /** Whether the embedding process reads, and no client. */
  readonly isEmbedded: boolean;
  readonly #isNoticed = Latch.makeUnsafe(false);
  #hasEnded = false;
  isAwaited = false;

  constructor(keyId: KeyId | null, isEmbedded = keyId === null) {
    this.keyId = keyId;
    this.isEmbedded = isEmbedded;
  }

  /** Waits for the next notice. Allows one caller at a time. */
  readonly next: Effect.Effect<Notice> = Effect.suspend(() => {
    this.isAwaited = true;
    return this.#isNoticed.await;
  }).pipe(
    Effect.map(() => {
      if (this.#hasEnded) return "end";
      this.#isNoticed.closeUnsafe();
      return "changed";
    }),
    Effect.ensuring(Effect.sync(() => void (this.isAwaited = false))),
  );

  /** Whether the read must end. Reads that go on without waiting take no notice. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  wake(): void {
    this.#isNoticed.openUnsafe();
  }

  end(): void {
    this.#hasEnded = true;
    this.wake();
  }
}

/** The open reads of a node, by the ID of the scope or session that they read. */
export class Readers<Id, R extends Reader> {
  readonly byId = new Map<Id, Set<R>>();
  #stops = 0;
  /** This latch is open while there are readers. */
  readonly isActive = Latch.makeUnsafe(false);

  get all(): ReadonlyArray<R> {
    return [...this.byId.values()].flatMap((readers) => [...readers]);
  }

  /** Adds a reader until the scope closes. */
  readonly add = (id: Id, reader: R): Effect.Effect<R, never, Scope.Scope> =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const readers = this.byId.get(id);
        if (readers === undefined) this.byId.set(id, new Set([reader]));
        else readers.add(reader);
        this.isActive.openUnsafe();
        if (this.#stops > 0 && !reader.isEmbedded) reader.end();
        return reader;
      }),
      () =>
        Effect.sync(() => {
          const readers = this.byId.get(id);
          readers?.delete(reader);
          if (readers?.size === 0) this.byId.delete(id);
          if (this.byId.size === 0) this.isActive.closeUnsafe();
        }),
    );

  wake(id: Id): void {
    for (const reader of this.byId.get(id) ?? []) reader.wake();
  }

  /**
   * Ends the reads of clients, and those that begin until the returned effect runs. Reads of the embedding process go on,
   * since it may close a web handler and keep the services.
   */
  readonly stop = Effect.sync(() => {
    this.#stops++;
    for (const reader of this.all) if (!reader.isEmbedded) reader.end();
    return Effect.sync(() => void this.#stops--);
  });
}

/** How often the keys of open reads are checked, in milliseconds. */
const keyCheckInterval = 500;

/**
 * Ends readers whose key is no longer accepted. It polls the keys in the store, so that a change by any node is noticed
 * even while the signals between nodes are down. After another change, such as a rotation, readers ask anew.
 */
export const endInactiveReaders = Effect.fnUntraced(function* (
  readers: Pick<Readers<unknown, Reader>, "isActive" | "all">,
) {
  const store = yield* KeyStore;
  const { subscribe } = yield* KeyChanges;
  yield* subscribe((id) => {
    for (const reader of readers.all) if (reader.keyId === id && !reader.isEmbedded) reader.end();
  });
  const check = yield* warnOnce(
    "Cannot check the keys of open reads",
    Effect.gen(function* () {
      const { all } = readers;
      const keyIds = new Set(all.flatMap(({ keyId }) => keyId ?? []));
      if (keyIds.size === 0) return;
      const accepted = new Set(yield* store.acceptedAmong([...keyIds], yield* Clock.currentTimeMillis));
      for (const reader of all) if (reader.keyId !== null && !accepted.has(reader.keyId)) reader.end();
    }),
  );
  while (true) {
    yield* readers.isActive.await;
    yield* Effect.sleep(keyCheckInterval);
    yield* check;
  }
});
