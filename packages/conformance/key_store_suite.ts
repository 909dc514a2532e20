/** What an adapter of `KeyStore` must do. */
import type { StoragePorts } from "@accountlink/core";
import { accounts } from "./internal/key_store/accounts.ts";
import { audits } from "./internal/key_store/audits.ts";
import { changes } from "./internal/key_store/changes.ts";
import { keys } from "./internal/key_store/keys.ts";
import { type SuiteOptions, suite } from "./suite.ts";

/**
 * Tests the key store of a layer. The layer has the other storage ports as well: every change leaves an entry in the
 * audit log.
 *
 * @example
 * ```ts
 * import { StorageMemory } from "@accountlink/storage-memory";
 * import * as test from "vitest";
 *
 * keyStoreSuite({ name: "Memory", layer: StorageMemory.layer, test });
 * ```
 */
export const keyStoreSuite = (options: SuiteOptions<StoragePorts>): void =>
  suite("KeyStore", options, { ...accounts, ...keys, ...changes, ...audits });
