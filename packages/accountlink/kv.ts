/** Stores links in an engine of four operations, such as Deno KV or one of your own. */

import type { StorageTooNew, StoreUnavailable } from "@accountlink/core";
import { claimSchema, type Kv, layer } from "@accountlink/kv";
import { CacheMemory } from "@accountlink/memory";
import { Effect, Layer } from "effect";
import type { Storage } from "./storage.ts";

export { type Change, type Check, denoKv, type Entry, type Kv, memoryKv, type Range } from "@accountlink/kv";

/**
 * An engine, which outlives the service: whoever opened it closes it. Processes can share it, but count limits
 * separately, and receive no events of other processes.
 *
 * @example
 * ```ts
 * import { createAccountLink } from "accountlink";
 *
 * const secret = crypto.getRandomValues(new Uint8Array(32));
 * const engine = memoryKv();
 * const options = { storage: kv(engine), secret, gameUserExists: () => true };
 * const first = await createAccountLink(options);
 * await first.links.set("100001", "1");
 * await first.close();
 * const second = await createAccountLink(options);
 * (await second.links.get("100001"))?.gameId; // "1"
 * await second.close();
 * ```
 */
export const kv = (engine: Kv): Storage<StorageTooNew | StoreUnavailable> =>
  Layer.provideMerge(CacheMemory.layerSaved, layer(Effect.as(claimSchema(engine), engine)));
