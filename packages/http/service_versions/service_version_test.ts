import { assert, describe, it } from "@effect/vitest";
import { contractFor, defaultContract } from "./service_version.ts";

describe("contractFor", () => {
  it.each([undefined, "", "2026-01-01"])("gives the first contract for %j", (header) => {
    assert.strictEqual(contractFor(header), defaultContract);
  });

  it.each(["2026-01-02", "latest", "2026-01-01, 2026-01-01"])("does not know %j", (header) => {
    assert.isUndefined(contractFor(header));
  });
});
