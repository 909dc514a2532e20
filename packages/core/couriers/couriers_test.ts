import { expect, it } from "vitest";
import { retryDelay } from "./couriers.ts";

it("the delay before the next attempt grows with the wait, in whole milliseconds, which stores keep", () => {
  expect([0, 50_001, 123_456, 90_000_000].map(retryDelay)).toEqual([5_000, 5_001, 12_346, 600_000]);
});
