import { storageOutageSuite, storageSuites } from "@accountlink/conformance";
import { StorageMemory } from "@accountlink/storage-memory";
import * as test from "vitest";
import { StorageKv } from "./mod.ts";
import { layerBreaking } from "./test_breaking_store.ts";
import { makeMapStore, makeSingleKeys } from "./test_map_store.ts";

const stores: Readonly<Record<string, () => Promise<StorageKv.KeyValueStore>>> = {
  "Key-value": async () => makeMapStore(),
  "Key-value, small commits": async () => ({ ...makeMapStore(), largestCommit: 3 }),
  "Key-value, single keys": () => StorageKv.singleProcess(makeSingleKeys()),
};

for (const [name, open] of Object.entries(stores)) {
  storageSuites({ name, layer: StorageKv.layer(open), model: StorageMemory.layer, runs: 5, test });
  storageOutageSuite({ name, layer: layerBreaking(open), test });
}
