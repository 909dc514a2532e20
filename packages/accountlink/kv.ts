/** Stores links in an engine of four operations, such as Deno KV or one of your own. */

import type { StorageTooNew, StoreUnavailable } from "@accountlink/core";
import { claimSchema, type Kv, layer, maxChanges, minChanges } from "@accountlink/kv";
import { CacheMemory } from "@accountlink/memory";
import { Effect, Layer, Predicate, type Scope } from "effect";
import { InvalidOptions } from "./options.ts";
import type { Storage } from "./storage.ts";

export { type Change, type Check, denoKv, type Entry, type Kv, memoryKv, type Range } from "@accountlink/kv";

/**
 * An engine, whose commits have room for at least 100 changes. Whoever opened it closes it, after the service; an effect
 * in its place opens it with the service, and its scope closes it with the service. Processes can share an engine, but
 * count limits separately, and receive no events of other processes.
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
export const kv = <E = never>(
  engine: Kv | Effect.Effect<Kv, E, Scope.Scope>,
): Storage<E | InvalidOptions | StorageTooNew | StoreUnavailable> =>
  Layer.provideMerge(
    CacheMemory.layerSaved,
    layer(
      (Effect.isEffect(engine) ? engine : Effect.succeed(engine)).pipe(
        Effect.tap(checkEngine),
        Effect.tap(claimSchema),
      ),
    ),
  );

/** An engine of fewer changes would fail at the first sweep or removal of many records. */
const checkEngine = (engine: Kv): Effect.Effect<void, InvalidOptions> => {
  const missing = (["get", "list", "count", "commit"] as const).filter(
    (operation) => !Predicate.isFunction(engine?.[operation]),
  );
  if (missing.length > 0)
    return new InvalidOptions({ problems: [`storage has an engine without ${missing.join(", ")}`] });
  const { maxChanges: most = maxChanges } = engine;
  return most >= minChanges
    ? Effect.void
    : new InvalidOptions({
        problems: [`storage has an engine of ${most} changes a commit, expected ${minChanges} or more`],
      });
};
