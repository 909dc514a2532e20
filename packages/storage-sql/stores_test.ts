import { storageOutageSuite, storageSuites } from "@accountlink/conformance";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect, Layer } from "effect";
import * as test from "vitest";
import { StorageSql } from "./mod.ts";
import { makeTempFolder } from "./sqlite/test_folder.ts";
import { layerReopening } from "./sqlite/test_reopening.ts";

const layer = Layer.unwrap(Effect.map(makeTempFolder, (folder) => StorageSql.layerEmbedded({ folder })));
const name = "Embedded";

storageSuites({ name, layer, model: StorageMemory.layer, runs: 120, test });
storageOutageSuite({ name, layer: layerReopening, test });
