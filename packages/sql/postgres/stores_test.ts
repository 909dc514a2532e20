import { StorageMemory } from "@accountlink/memory";
import { isProof, whyNoPostgresDatabase } from "@accountlink/test-servers";
import { storageSuites } from "@accountlink/testing/conformance";
import * as test from "vitest";
import { layerOnDatabase } from "./test_postgres.ts";

const missing = await whyNoPostgresDatabase();
const name = "Postgres";

test.describe.skipIf(missing !== null)(`stores ${missing ?? "on Postgres"}`, () => {
  storageSuites({ name, layer: layerOnDatabase, model: StorageMemory.layer, runs: isProof ? 120 : 30, test });
});
