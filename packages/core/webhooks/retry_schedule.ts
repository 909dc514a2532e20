import { dayMs, hourMs, type Millis } from "../timestamp.ts";

const [second, minute] = [1_000, 60_000];

const delays = [5 * second, 5 * minute, 30 * minute, 2 * hourMs, 5 * hourMs, 10 * hourMs, 10 * hourMs];

const longestDelay = 10 * hourMs;

/**
 * The share of a delay by which it varies at random, so that deliveries that fail together are not retried together.
 */
const jitter = 0.1;

/** A webhook is disabled when it has failed for this long without a successful delivery, in milliseconds. */
export const longestFailure = 5 * dayMs;

/**
 * Returns when to try again after a number of failed attempts; null for never.
 *
 * @param retryAfter the receiver's requested delay in milliseconds, or null
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
