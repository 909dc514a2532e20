/** A bounded cache in memory. */
import { Cache } from "@accountlink/core";
import { Effect, Layer } from "effect";
import { Entries } from "./internal/entries.ts";

/**
 * A cache that holds up to `maxEntries`; beyond that the ones that were not used for longest go.
 *
 * @param options.maxEntries a positive integer
 */
export const layerWith = (options: { readonly maxEntries: number }): Layer.Layer<Cache> =>
  Layer.sync(Cache, () => {
    const entries = new Entries(options.maxEntries);
    return Cache.of({
      get: (key, now) => Effect.sync(() => entries.get(key, now)),
      set: (key, value, expiresAt) => Effect.sync(() => entries.set(key, value, expiresAt)),
    });
  });

/** A cache that holds up to 10,000 entries. */
export const layer: Layer.Layer<Cache> = layerWith({ maxEntries: 10_000 });
