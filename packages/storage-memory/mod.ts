/**
 * The storage ports in memory, for tests, demos and services without persistence. They are also the
 * model with which conformance tests compare other stores.
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
 * await Effect.runPromise(Effect.provide(findLink, StorageMemory.layer)); // Option.none()
 * ```
 */
export * as StorageMemory from "./storage_memory.ts";
