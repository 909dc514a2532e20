import { storageOutageSuite, storageSuites } from "@accountlink/testing/conformance";
import * as test from "vitest";
import { StorageMemory } from "../mod.ts";

const { layer } = StorageMemory;
const name = "Memory";

storageSuites({ name, layer, model: layer, test });
storageOutageSuite({ name, test, skip: "memory has no connection" });
