/** When a failed delivery is tried again. */
import { dayMs, hourMs, type Millis } from "../timestamp.ts";

const [second, minute] = [1_000, 60_000];

/** The time from each attempt to the next. */
const delays = [5 * second, 5 * minute, 30 * minute, 2 * hourMs, 5 * hourMs, 10 * hourMs, 10 * hourMs];

const longestDelay = 10 * hourMs;

/** The share by which a delay is longer or shorter, so that what failed at once is not tried at once. */
const jitter = 0.1;

/** A webhook is disabled when it has failed for this long without a delivery, in milliseconds. */
export const longestFailure = 5 * dayMs;

/**
 * When to try again after a number of failed attempts; null for never.
 *
 * @param retryAfter what the receiver asked for, in milliseconds; null for nothing
 * @param random from 0 to 1
 */
export const nextAttemptAt = ({
  attempts,
  at,
  retryAfter,
  random,
}: {
  readonly attempts: number;
  readonly at: Millis;
  readonly retryAfter: number | null;
  readonly random: number;
}): Millis | null => {
  const delay = delays[attempts - 1];
  if (delay === undefined) return null;
  const spread = Math.round(delay * (1 + jitter * (2 * random - 1)));
  return at + Math.max(spread, Math.min(retryAfter ?? 0, longestDelay));
};
