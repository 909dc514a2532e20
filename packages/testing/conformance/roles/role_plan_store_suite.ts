import type { StoragePorts } from "@accountlink/core";
import { type SuiteOptions, suite } from "../suite.ts";
import { members } from "./members.ts";
import { plans } from "./plans.ts";
import { problems } from "./problems.ts";

/**
 * Tests a `RolePlanStore` with the other storage ports. `storagePropertySuite` tests holds, marks during a change
 * and positions in the feed.
 */
export const rolePlanStoreSuite = (options: SuiteOptions<StoragePorts>): void =>
  suite("RolePlanStore", options, { ...plans, ...members, ...problems });
