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
import * as test from "vitest";
import { StorageMemory } from "./mod.ts";

const { layer } = StorageMemory;
const name = "Memory";

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
storagePropertySuite({ name, layer, model: layer, test });
storageOutageSuite({ name, test, skip: "memory has no connection" });
