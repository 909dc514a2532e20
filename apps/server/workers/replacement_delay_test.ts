import { describe, expect, it } from "vitest";
import { replacementDelay } from "./replacement_delay.ts";

describe("the delay before a worker is replaced", () => {
  it("doubles with each in a row that did not last, up to ten seconds", () => {
    const delays: Array<number> = [];
    for (let failures = 0; failures < 9; ) {
      const next = replacementDelay(failures, 1_000);
      delays.push(next.delay);
      failures = next.failures;
    }
    expect(delays).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
  });

  it("begins anew after one that lasted", () => {
    expect(replacementDelay(9, 60_001)).toEqual({ delay: 100, failures: 1 });
  });
});
