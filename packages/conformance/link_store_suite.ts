/** What an adapter of `LinkStore` must do. */
import type { StoragePorts } from "@accountlink/core";
import { audits } from "./internal/link_store/audits.ts";
import { exports } from "./internal/link_store/exports.ts";
import { imports } from "./internal/link_store/imports.ts";
import { races } from "./internal/link_store/races.ts";
import { reads } from "./internal/link_store/reads.ts";
import { writes } from "./internal/link_store/writes.ts";
import { type SuiteOptions, suite } from "./suite.ts";

/**
 * Tests the link store of a layer. The layer has the other storage ports as well: links live in scopes that the key
 * store makes, and every write leaves an entry in the audit log.
 *
 * @example
 * ```ts
 * import { StorageMemory } from "@accountlink/storage-memory";
 * import * as test from "vitest";
 *
 * linkStoreSuite({ name: "Memory", layer: StorageMemory.layer, test });
 * ```
 */
export const linkStoreSuite = (options: SuiteOptions<StoragePorts>): void =>
  suite("LinkStore", options, { ...reads, ...writes, ...imports, ...exports, ...audits, ...races });
