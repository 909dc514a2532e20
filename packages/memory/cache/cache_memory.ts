import type { Cache, Counters, Signals } from "@accountlink/core";
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
