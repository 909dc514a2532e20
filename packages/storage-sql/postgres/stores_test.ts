import { storageSuites } from "@accountlink/conformance";
import { StorageMemory } from "@accountlink/storage-memory";
import { whyNoPostgresDatabase } from "@accountlink/test-servers";
import * as test from "vitest";
import { layerOnDatabase } from "./test_postgres.ts";

const missing = await whyNoPostgresDatabase();
const name = "Postgres";
const layer = layerOnDatabase();

test.describe.skipIf(missing !== null)(`stores ${missing ?? "on Postgres"}`, () => {
  storageSuites({ name, layer, model: StorageMemory.layer, runs: 120, test });
});
