import { expect, it } from "vitest";
import { backoff } from "./clients.ts";

it("the backoff starts short and never exceeds half a second", () => {
  const delays = Array.from({ length: 200 }, (_, i) => backoff(i + 1));
  expect(delays[0]).toBeLessThan(150);
  expect(Math.max(...delays)).toBeLessThanOrEqual(500);
  expect(backoff(100_000)).toBeLessThanOrEqual(500);
});
