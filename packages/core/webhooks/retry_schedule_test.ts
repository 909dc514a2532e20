import { expect, it } from "vitest";
import { nextAttemptAt } from "./delivery/attempt.ts";

const [second, minute, hour] = [1_000, 60_000, 3_600_000];

const delay = (attempts: number, random = 0.5, retryAfter: number | null = null) =>
  (nextAttemptAt(attempts, 1_000_000, retryAfter, random) ?? Number.NaN) - 1_000_000;

it("a delivery is retried seven times, after 5 seconds to 10 hours", () => {
  expect(Array.from({ length: 7 }, (_, index) => delay(index + 1))).toEqual([
    5 * second,
    5 * minute,
    30 * minute,
    2 * hour,
    5 * hour,
    10 * hour,
    10 * hour,
  ]);
  expect(nextAttemptAt(8, 0, 1, 0)).toBeNull();
});

it("retry delays vary by a tenth in both directions", () => {
  expect([delay(2, 0), delay(2, 1)]).toEqual([4.5 * minute, 5.5 * minute]);
});

it("a Retry-After that is longer than the scheduled delay replaces it, up to ten hours", () => {
  expect(delay(1, 0.5, minute)).toBe(minute);
  expect(delay(3, 0.5, minute)).toBe(30 * minute);
  expect(delay(1, 0.5, 100 * hour)).toBe(10 * hour);
});
