import {
  altReviewStoreSuite,
  auditLogSuite,
  countLedgerSuite,
  flowStoreSuite,
  idempotencyStoreSuite,
  keyStoreSuite,
  linkStoreSuite,
  rootKeyStoreSuite,
  sessionStoreSuite,
  sightingStoreSuite,
  signInStoreSuite,
  storagePropertySuite,
  usageStoreSuite,
  userStoreSuite,
} from "@accountlink/conformance";
import { StorageMemory } from "@accountlink/storage-memory";
import { whyNoPostgresDatabase } from "@accountlink/test-servers";
import * as test from "vitest";
import { layerOnDatabase } from "./test_postgres.ts";

const missing = await whyNoPostgresDatabase();
const name = "Postgres";
const layer = layerOnDatabase();

test.describe.skipIf(missing !== null)(`stores ${missing ?? "on Postgres"}`, () => {
  linkStoreSuite({ name, layer, test });
  keyStoreSuite({ name, layer, test });
  auditLogSuite({ name, layer, test });
  sessionStoreSuite({ name, layer, test });
  flowStoreSuite({ name, layer, test });
  countLedgerSuite({ name, layer, test });
  rootKeyStoreSuite({ name, layer, test });
  sightingStoreSuite({ name, layer, test });
  altReviewStoreSuite({ name, layer, test });
  signInStoreSuite({ name, layer, test });
  idempotencyStoreSuite({ name, layer, test });
  userStoreSuite({ name, layer, test });
  usageStoreSuite({ name, layer, test });
  storagePropertySuite({ name, layer, model: StorageMemory.layer, test });
});
