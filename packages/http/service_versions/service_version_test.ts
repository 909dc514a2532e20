import { assert, describe, it } from "@effect/vitest";
import { Result } from "effect";
import { contractFor, defaultContract } from "./service_version.ts";

describe("contractFor", () => {
  it.each([undefined, "", "2026-01-01"])("gives the first contract for %j", (header) => {
    assert.strictEqual(Result.getOrThrow(contractFor(header)), defaultContract);
  });

  it.each(["2026-01-02", "latest", "2026-01-01, 2026-01-01"])(
    "refuses %j with the values it takes",
    (header) => {
      const problem = Result.getOrThrow(Result.flip(contractFor(header)));
      assert.deepStrictEqual(problem, { name: "Service-Version", reason: "accepted values: 2026-01-01" });
    },
  );
});
