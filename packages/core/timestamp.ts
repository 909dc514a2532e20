/** Times are milliseconds in the domain, and ISO 8601 in files, flags and responses. @internal */
import { Clock, Effect, Option, Schema, SchemaTransformation } from "effect";

/** Milliseconds since the Unix epoch. */
export type Millis = number;

/** The latest time that a `Date` can have. */
export const latestTime = 8.64e15;

export const hourMs = 3_600_000;

export const dayMs = 24 * hourMs;

/**
 * How far beyond its latest right value a stored time may be, since clocks differ. A later one was stored before the
 * clock was set back, and would refuse requests until the clock is there again.
 */
export const clockTolerance = 60_000;

/** Returns the start of the time's UTC day. */
export const startOfDay = (time: Millis): Millis => Math.floor(time / dayMs) * dayMs;

/** How far a server's clock is ahead of this machine's: it is taken to have been read in the middle of the request. */
export const clockLead = <E, R>(read: Effect.Effect<Millis, E, R>): Effect.Effect<Millis, E, R> =>
  Effect.gen(function* () {
    const begun = yield* Clock.currentTimeMillis;
    const there = yield* read;
    return there - (begun + (yield* Clock.currentTimeMillis)) / 2;
  });

const pattern =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d))?$/;

/** Parses an ISO 8601 date and time with offset, or a date, which means its start in UTC. None for any other text. */
export const parseTimestamp = (text: string): Option.Option<Millis> =>
  // Every month has the first 28 days, and asking `isDay` takes most of the time.
  pattern.test(text) && (text.slice(8, 10) <= "28" || isDay(text))
    ? Option.some(Date.parse(text))
    : Option.none();

/** Returns whether the month has this day. Needed because `Date.parse` accepts February 30 as March 2. */
const isDay = (text: string): boolean => {
  const day = text.slice(0, 10);
  const start = Date.parse(day);
  return !Number.isNaN(start) && new Date(start).toISOString().startsWith(day);
};

/** Text that `parseTimestamp` accepts. */
export const Timestamp = Schema.String.check(
  Schema.isPattern(pattern, { expected: "an ISO 8601 timestamp" }),
  Schema.makeFilter(isDay, { expected: "a day of the calendar" }),
);

const maxFormatted = 64;
const formatted = new Map<Millis, string>();

/**
 * Formats a time as ISO 8601 in UTC, with milliseconds. The latest texts are cached, because concurrent responses have
 * the same few times. Without the cache, a lookup takes a quarter longer, measured without HTTP.
 */
export const formatTimestamp = (time: Millis): string => {
  let text = formatted.get(time);
  if (text === undefined) {
    text = new Date(time).toISOString();
    if (formatted.size >= maxFormatted) formatted.clear();
    formatted.set(time, text);
  }
  return text;
};

// Years 0 to 9999, the range of ISO 8601.
const Epoch = Schema.Int.check(
  Schema.isBetween({ minimum: -62_167_219_200_000, maximum: 253_402_300_799_999 }),
);

export const TimestampMillis = Timestamp.pipe(
  Schema.decodeTo(
    Epoch,
    SchemaTransformation.transform<Millis, string>({
      decode: (text) => Date.parse(text),
      encode: formatTimestamp,
    }),
  ),
);

export const timeOrNull = (time: Millis | null): string | null =>
  time === null ? null : formatTimestamp(time);
