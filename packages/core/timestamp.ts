/**
 * Times as files, flags and answers carry them: ISO 8601.
 */
import { Option, Schema } from "effect";
import type { Millis } from "./link.ts";

const pattern =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d))?$/;

/**
 * Reads a date, which is its first moment in UTC, or a date and time with its offset. None for any other text.
 *
 * @example
 * ```ts
 * import { Option } from "effect";
 *
 * Option.getOrNull(parseTimestamp("2026-01-31T08:00:00Z")); // 1769846400000
 * Option.getOrNull(parseTimestamp("2026-02-30")); // null
 * ```
 */
export const parseTimestamp = (text: string): Option.Option<Millis> =>
  pattern.test(text) && isDay(text) ? Option.some(Date.parse(text)) : Option.none();

/** Of itself, `Date.parse` takes February 30 for March 2. */
const isDay = (text: string): boolean => {
  const day = Number(text.slice(8, 10));
  return day <= 28 || day <= daysIn(Number(text.slice(0, 4)), Number(text.slice(5, 7)));
};

const daysIn = (year: number, month: number): number => {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
};

/** Text that `parseTimestamp` reads. */
export const Timestamp = Schema.String.check(
  Schema.isPattern(pattern, { expected: "an ISO 8601 timestamp" }),
  Schema.makeFilter(isDay, { expected: "a day of the calendar" }),
);

/** A time as it is shown: ISO 8601 in UTC, with milliseconds. */
export const formatTimestamp = (time: Millis): string => new Date(time).toISOString();
