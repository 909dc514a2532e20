/** What an adapter of `UserStore` must do. */

import type { StoragePorts } from "@accountlink/core";
import { erasures } from "./internal/user_store/erasures.ts";
import { finds } from "./internal/user_store/finds.ts";
import { races } from "./internal/user_store/races.ts";
import { type SuiteOptions, suite } from "./suite.ts";

/**
 * Tests the user store of a layer. The layer has the other storage ports as well, which store what is found and erased.
 *
 * @example
 * ```ts
 * import { StorageMemory } from "@accountlink/storage-memory";
 * import * as test from "vitest";
 *
 * userStoreSuite({ name: "Memory", layer: StorageMemory.layer, test });
 * ```
 */
export const userStoreSuite = (options: SuiteOptions<StoragePorts>): void =>
  suite("UserStore", options, { ...finds, ...erasures, ...races });
