import type { StoragePorts } from "@accountlink/core";
import { memoryKv, layer as storageLayer } from "@accountlink/kv";
import { Effect, type Layer } from "effect";

/** All storage ports in memory. They are empty each time the layer is built. */
export const layer: Layer.Layer<StoragePorts> = storageLayer(Effect.sync(memoryKv));
