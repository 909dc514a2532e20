import { StorageMemory } from "@accountlink/memory";
import { kvSuite, storageSuites } from "@accountlink/testing/conformance";
import { Effect } from "effect";
import * as test from "vitest";
import { layer, memoryKv } from "./mod.ts";

kvSuite({ name: "In memory", engine: Effect.sync(memoryKv), test });

storageSuites({
  name: "Kv in memory",
  layer: layer(Effect.sync(memoryKv)),
  model: StorageMemory.layer,
  test,
});
