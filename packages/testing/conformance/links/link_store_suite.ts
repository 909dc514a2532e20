import type { StoragePorts } from "@accountlink/core";
import { type SuiteOptions, suite } from "../suite.ts";
import { audits } from "./audits.ts";
import { imports } from "./imports.ts";
import { newest } from "./newest.ts";
import { races } from "./races.ts";
import { reads } from "./reads.ts";
import { writes } from "./writes.ts";

/**
 * Tests a `LinkStore` with the other storage ports: links belong to scopes of `KeyStore`, and writes log entries in
 * `AuditLog`. `storagePropertySuite` tests reads and writes in sequence.
 */
export const linkStoreSuite = (options: SuiteOptions<StoragePorts>): void =>
  suite("LinkStore", options, {
    ...reads,
    ...newest,
    ...writes,
    ...imports,
    ...audits,
    ...races,
  });
