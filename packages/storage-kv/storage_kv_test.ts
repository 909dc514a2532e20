import { storageOutageSuite, storageSuites } from "@accountlink/conformance";
import { StorageMemory } from "@accountlink/storage-memory";
import * as test from "vitest";
import { StorageKv } from "./mod.ts";
import { layerBreaking } from "./test_breaking_store.ts";
import { makeSingleKeys } from "./test_map_store.ts";

const name = "Key-value, single keys";
const open = () => StorageKv.singleProcess(makeSingleKeys());

storageSuites({ name, layer: StorageKv.layer(open), model: StorageMemory.layer, runs: 100, test });
storageOutageSuite({ name, layer: layerBreaking(open), test });
