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
  storageOutageSuite,
  storagePropertySuite,
  usageStoreSuite,
  userStoreSuite,
} from "@accountlink/conformance";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect, Layer } from "effect";
import * as test from "vitest";
import { StorageSql } from "./mod.ts";
import { makeTempFolder } from "./sqlite/test_folder.ts";
import { layerReopening } from "./sqlite/test_reopening.ts";

const layer = Layer.unwrap(Effect.map(makeTempFolder, (folder) => StorageSql.layerEmbedded({ folder })));
const name = "Embedded";

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
storageOutageSuite({ name, layer: layerReopening, test });
