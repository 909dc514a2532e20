/**
 * The storage ports in SQL: embedded SQLite, and what other databases share with it.
 *
 * @example
 * ```ts
 * const findLink = Effect.gen(function* () {
 *   const links = yield* LinkStore;
 *   return yield* links.findByChatId(pid, chatId);
 * });
 * Effect.provide(findLink, StorageSql.layerEmbedded({ folder: "data" }));
 * ```
 */
export * as StorageSql from "./storage_sql.ts";
