import { type StoragePorts, StoreUnavailable } from "@accountlink/core";
import { Data, Effect, Layer } from "effect";
import { withJournal } from "./journal.ts";
import type { KeyValueStore } from "./key_value_store.ts";
import { Database, makeDatabase } from "./records/database.ts";
import { format, headKey, readHead } from "./records/head.ts";
import { stores } from "./stores.ts";

/**
 * A later release wrote to the store. It was not changed.
 *
 * @example
 * ```ts
 * import { StorageKv } from "@accountlink/storage-kv";
 * import { Effect, Layer } from "effect";
 *
 * const head = JSON.stringify({ format: 99, commits: 1, sequence: 0 });
 * const store: StorageKv.KeyValueStore = {
 *   get: async (keys) => keys.map((key) => (key === "head" ? head : null)),
 *   list: async () => [],
 *   commit: async () => false,
 * };
 * const opening = Layer.build(StorageKv.layer(async () => store));
 * const refused = await Effect.runPromise(Effect.scoped(Effect.flip(opening)));
 * refused instanceof StorageKv.StoreTooNew && refused.format; // 99
 * ```
 */
export class StoreTooNew extends Data.TaggedError("StoreTooNew")<{
  /** The form of its records. */
  readonly format: number;
}> {
  override readonly message =
    `Cannot use the store: its records have form ${this.format}, expected ${format} or lower`;
}

/**
 * Every storage port, on a key-value store.
 *
 * @param open opens the store; called once for each build of the layer, whose end closes it
 */
export const layer = (
  open: () => Promise<KeyValueStore>,
): Layer.Layer<StoragePorts, StoreUnavailable | StoreTooNew> =>
  Layer.provide(stores, Layer.effect(Database, Effect.map(opened(open), makeDatabase)));

const asking = <A>(call: () => Promise<A>) =>
  Effect.tryPromise({
    try: call,
    catch: (cause) => new StoreUnavailable({ operation: "KeyValueStore.open", cause }),
  });

const opened = Effect.fnUntraced(function* (open: () => Promise<KeyValueStore>) {
  const store = yield* Effect.acquireRelease(asking(open), (opening) =>
    Effect.ignore(asking(async () => opening.close?.())),
  );
  const { largestCommit } = store;
  const journaled = largestCommit === undefined ? store : withJournal(store, largestCommit);
  const [head = null] = yield* asking(() => journaled.get([headKey]));
  const stored = readHead(head).format;
  if (stored > format) return yield* new StoreTooNew({ format: stored });
  return journaled;
});
