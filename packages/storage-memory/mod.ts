/**
 * The storage ports in memory, for tests, demos and services that may forget. It is also the reference: other stores
 * must answer as this one does.
 *
 * @example
 * ```ts
 * const findLink = Effect.gen(function* () {
 *   const links = yield* LinkStore;
 *   return yield* links.findByChatId(pid, chatId);
 * });
 * Effect.provide(findLink, StorageMemory.layer);
 * ```
 */
export * as StorageMemory from "./storage_memory.ts";
