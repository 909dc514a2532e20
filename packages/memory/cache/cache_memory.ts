import type { Cache, Counters, Signals, StoreUnavailable } from "@accountlink/core";
import type { DayCounts } from "@accountlink/core/limits";
import { Layer } from "effect";
import * as MemoryCache from "./cache.ts";
import * as MemoryCounters from "./counters.ts";
import * as MemorySignals from "./signals.ts";

/** Counters, cache and signals in memory. They are empty each time the layer is built. */
export const layer: Layer.Layer<Counters | Cache | Signals> = Layer.mergeAll(
  MemoryCounters.layer,
  MemoryCache.layer,
  MemorySignals.layer,
);

/** Like `layer`, but the counts of the day are saved in the storage, so that they survive a restart. @internal */
export const layerSaved: Layer.Layer<Counters | Cache | Signals, StoreUnavailable, DayCounts> =
  Layer.mergeAll(MemoryCounters.layerSaved, MemoryCache.layer, MemorySignals.layer);
