import type { StoragePorts } from "@accountlink/core";
import { type SuiteOptions, suite } from "../suite.ts";
import { changes } from "./changes.ts";
import { codes } from "./codes.ts";
import { completion } from "./completion.ts";
import { creation } from "./creation.ts";
import { races } from "./races.ts";

/**
 * Tests a `SessionStore`. The suite needs the other storage ports too, because a session belongs to a key and a scope.
 * `storagePropertySuite` tests sequences of writes that complete and end sessions.
 */
export const sessionStoreSuite = (options: SuiteOptions<StoragePorts>): void =>
  suite("SessionStore", options, { ...creation, ...codes, ...changes, ...completion, ...races });
