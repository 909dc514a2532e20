import type { StoragePorts } from "@accountlink/core";
import { type SuiteOptions, suite } from "../suite.ts";
import { accounts } from "./accounts.ts";
import { changes } from "./changes.ts";
import { keys } from "./keys.ts";
import { updates } from "./updates.ts";

/** Tests a `KeyStore` with the other storage ports, because its changes are logged in `AuditLog`. */
export const keyStoreSuite = (options: SuiteOptions<StoragePorts>): void =>
  suite("KeyStore", options, { ...accounts, ...keys, ...changes, ...updates });
