/**
 * The storage ports in SQL: embedded SQLite, and what other databases share with it.
 *
 * @example
 * ```ts
 * import { ChatId, LinkStore, Pid } from "@accountlink/core";
 * import { Effect, Option } from "effect";
 *
 * const findLink = Effect.gen(function* () {
 *   const links = yield* LinkStore;
 *   return yield* links.findByChatId(Pid.make("pid_0000000000000001"), ChatId.make("100001"));
 * });
 * const stores = StorageSql.layerEmbedded({ folder: "data" });
 * await Effect.runPromise(Effect.provide(findLink, stores)); // Option.none()
 * ```
 */
export * as StorageSql from "./storage_sql.ts";
