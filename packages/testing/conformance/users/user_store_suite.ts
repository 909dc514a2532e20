import type { StoragePorts } from "@accountlink/core";
import { type SuiteOptions, suite } from "../suite.ts";
import { erasures } from "./erasures.ts";
import { races } from "./races.ts";

/** Tests a `UserStore` with the other storage ports, which store the users' data. */
export const userStoreSuite = (options: SuiteOptions<StoragePorts>): void =>
  suite("UserStore", options, { ...erasures, ...races });
