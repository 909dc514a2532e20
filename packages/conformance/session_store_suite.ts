/** What an adapter of `SessionStore` must do. */
import type { StoragePorts } from "@accountlink/core";
import { changes } from "./internal/session_store/changes.ts";
import { completion } from "./internal/session_store/completion.ts";
import { creation } from "./internal/session_store/creation.ts";
import { races } from "./internal/session_store/races.ts";
import { removals } from "./internal/session_store/removals.ts";
import { type SuiteOptions, suite } from "./suite.ts";

/**
 * Tests the session store of a layer. The layer has the other storage ports as well: a session has a key and a scope,
 * flows complete it, and the removal of a link ends it.
 *
 * @example
 * ```ts
 * import { StorageMemory } from "@accountlink/storage-memory";
 * import * as test from "vitest";
 *
 * sessionStoreSuite({ name: "Memory", layer: StorageMemory.layer, test });
 * ```
 */
export const sessionStoreSuite = (options: SuiteOptions<StoragePorts>): void =>
  suite("SessionStore", options, { ...creation, ...changes, ...completion, ...removals, ...races });
