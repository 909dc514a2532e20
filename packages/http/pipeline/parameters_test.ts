import { flag, LookupsV2, premiumFlag } from "@accountlink/http-api";
import { assert, describe, it } from "@effect/vitest";
import { premiumTest } from "./parameters.ts";

describe("parameters that need a Premium key", () => {
  it("are found by their flag, not by name", () => {
    const asksForPremium = premiumTest({
      ...LookupsV2.getChat,
      parameters: { profiles: premiumFlag("Whether to add profiles"), resolved: flag("Another") },
    });
    assert.isTrue(asksForPremium({ profiles: true, resolved: false }));
    assert.isFalse(asksForPremium({ profiles: false, resolved: true }));
  });
});
