import { StorageMemory } from "@accountlink/memory";
import { randomRuns, whyNoPostgresDatabase } from "@accountlink/test-servers";
import { storageSuites } from "@accountlink/testing/conformance";
import * as test from "vitest";
import { layerOnDatabase } from "./test_postgres.ts";

const missing = await whyNoPostgresDatabase();
const name = "Postgres";

test.describe.skipIf(missing !== null)(`stores ${missing ?? "on Postgres"}`, () => {
  storageSuites({ name, layer: layerOnDatabase, model: StorageMemory.layer, ...randomRuns(1, 120), test });
});
