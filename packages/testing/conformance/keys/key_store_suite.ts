import type { StoragePorts } from "@accountlink/core";
import { type SuiteOptions, suite } from "../suite.ts";
import { accountUpdates } from "./account_updates.ts";
import { accounts } from "./accounts.ts";
import { audits } from "./audits.ts";
import { changes } from "./changes.ts";
import { keys } from "./keys.ts";
import { settings } from "./settings.ts";
import { updates } from "./updates.ts";

/** Tests a `KeyStore` with the other storage ports: changes log entries in `AuditLog`. */
export const keyStoreSuite = (options: SuiteOptions<StoragePorts>): void =>
  suite("KeyStore", options, {
    ...accounts,
    ...accountUpdates,
    ...keys,
    ...changes,
    ...updates,
    ...settings,
    ...audits,
  });
