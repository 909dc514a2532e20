import { StorageMemory } from "@accountlink/memory";
import { storageSuites } from "@accountlink/testing/conformance";
import { Effect } from "effect";
import * as test from "vitest";
import { layer, memoryKv } from "./mod.ts";

storageSuites({
  name: "Kv in memory",
  layer: layer(Effect.sync(memoryKv)),
  model: StorageMemory.layer,
  test,
});
