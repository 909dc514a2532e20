import type { StoragePorts } from "@accountlink/core";
import { type SuiteOptions, suite } from "../suite.ts";
import { races } from "./races.ts";
import { reads } from "./reads.ts";

/** Tests an `EventStore` with the other storage ports, because writes to those ports append the events. */
export const eventStoreSuite = (options: SuiteOptions<StoragePorts>): void =>
  suite("EventStore", options, { ...reads, ...races });
