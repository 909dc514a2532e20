import type { StoragePorts } from "@accountlink/core";
import { type SuiteOptions, suite } from "../suite.ts";
import { completion } from "./completion.ts";
import { creation } from "./creation.ts";
import { races } from "./races.ts";

/**
 * Tests a `SessionStore`. The suite needs the other storage ports too, because a session belongs to a key and a scope.
 * `storagePropertySuite` tests sequences of writes that create, advance, complete and end sessions, and their codes.
 */
export const sessionStoreSuite = (options: SuiteOptions<StoragePorts>): void =>
  suite("SessionStore", options, { ...creation, ...completion, ...races });
