import { storageOutageSuite, storageSuites } from "@accountlink/testing/conformance";
import * as test from "vitest";
import { StorageMemory } from "./mod.ts";

const name = "Memory";

storageSuites({ name, layer: StorageMemory.layer, test });
storageOutageSuite({ name, test, skip: "memory has no connection" });
