import { assert, it } from "@accountlink/test-servers/effect";
import { quotaOf } from "./quota.ts";

const tier = { keys: 2, links: 0, perWindow: 1, windowMs: 2_000, daily: 500, verifyDaily: 2_000 };

it.each([
  [{ perWindow: 0 }, "perWindow"],
  [{ windowMs: 0 }, "perWindow"],
  [{ daily: 0 }, "daily"],
  [{ verifyDaily: 0 }, "verifyDaily"],
] as const)("%j turns a limit off", (limits, rule) => {
  assert.isNull(quotaOf(limits, tier)[rule]);
});
