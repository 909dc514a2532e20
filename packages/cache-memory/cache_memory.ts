/** The ports of what is fast and may be forgotten. */
import type { Cache, Counters, Signals } from "@accountlink/core";
import { Layer } from "effect";
import * as MemoryCache from "./cache.ts";
import * as MemoryCounters from "./counters.ts";
import * as MemorySignals from "./signals.ts";

/** Counters, caches and signals. Each time the layer is built they are empty. */
export const layer: Layer.Layer<Counters | Cache | Signals> = Layer.mergeAll(
  MemoryCounters.layer,
  MemoryCache.layer,
  MemorySignals.layer,
);
