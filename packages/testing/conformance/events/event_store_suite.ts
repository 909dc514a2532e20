import type { StoragePorts } from "@accountlink/core";
import { type SuiteOptions, suite } from "../suite.ts";
import { races } from "./races.ts";
import { sweeps } from "./sweeps.ts";

/**
 * Tests an `EventStore` with the other storage ports, because writes to those ports append the events.
 * `storagePropertySuite` tests pages of a feed.
 */
export const eventStoreSuite = (options: SuiteOptions<StoragePorts>): void =>
  suite("EventStore", options, { ...sweeps, ...races });
