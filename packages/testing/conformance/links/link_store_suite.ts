import type { StoragePorts } from "@accountlink/core";
import { type SuiteOptions, suite } from "../suite.ts";
import { newest } from "./newest.ts";
import { races } from "./races.ts";
import { reads } from "./reads.ts";
import { writes } from "./writes.ts";

/**
 * Tests a `LinkStore` with the other storage ports, because links need a scope in `KeyStore`, and their changes are
 * logged in `AuditLog`. `storagePropertySuite` tests sequences of reads and writes.
 */
export const linkStoreSuite = (options: SuiteOptions<StoragePorts>): void =>
  suite("LinkStore", options, { ...reads, ...newest, ...writes, ...races });
