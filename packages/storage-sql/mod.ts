/**
 * The storage ports in SQL: on an embedded SQLite for one server, or on a Postgres that nodes
 * share.
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
