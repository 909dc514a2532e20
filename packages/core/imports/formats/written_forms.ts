/**
 * How other systems write times, verification states and IDs. Each list is read by the readers, by their tests, and by
 * the test of the tables in docs/switching.md.
 */
import { Option } from "effect";
import { type Millis, parseTimestamp } from "../../timestamp.ts";
import type { DateOrder } from "./link_format.ts";
import { words } from "./state_columns.ts";

/** The words for a verified link, in lower case. @internal */
export const verifiedWords = words(
  "true, yes, y, t, 1, on, verified, active, linked, complete, completed, approved, done, x, ✓",
);

/** The words for a link that is not verified, in lower case. An empty value is one too. @internal */
export const unverifiedWords = words(
  "false, no, n, f, 0, 0.0, off, none, null, -, unverified, not verified, pending, expired, revoked, " +
    "rejected, denied, inactive, unlinked, deleted, banned, \\n, nil, undefined",
);

/** The words of `verifiedWords` and of `unverifiedWords` that are an answer to any question. @internal */
export const yesWords = words("true, yes, y, t, 1, on, x, ✓");
/** @internal */
export const noWords = words("false, no, n, f, 0, 0.0, off, none, null, -, \\n, nil, undefined");

/** What stands in place of a time that is not known, in lower case. An empty value is one too. @internal */
export const missingTimes = words("null, \\n, nil, undefined, none, nan, 0, 0000-00-00 00:00:00, 0000-00-00");

/** The zero times of databases and programming languages, in any form. @internal */
export const zeroTimes = ["1970-01-01T00:00:00Z", "0001-01-01T00:00:00Z"];

const zeroMillis: ReadonlySet<Millis> = new Set(zeroTimes.map((text) => Date.parse(text)));

/** Returns null for a time that stands for no time. @internal */
export const orNoTime = (time: Millis): Millis | null => (zeroMillis.has(time) ? null : time);

/** @internal */
export interface TimeForm {
  readonly name: string;
  /** Ways to write `exampleTime` in this form. */
  readonly examples: ReadonlyArray<string>;
  readonly pattern: RegExp;
  /** Returns the time in ISO 8601, or in milliseconds. */
  readonly read: (parts: ReadonlyArray<string>) => string | Millis;
}

/** The time of all examples of `timeForms`. @internal */
export const exampleTime: Millis = Date.parse("2021-05-04T12:30:00Z");

const months = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");

const dateOf = (year = "", month = "", day = ""): string => {
  const number = months.indexOf(month.toLowerCase()) + 1;
  return [year, String(number).padStart(2, "0"), day.padStart(2, "0")].join("-");
};

/** Adds the colon to an offset such as `+0000` or `+00`. No offset and names of UTC become `Z`. */
const offsetOf = (offset = ""): string => {
  const [, hours, minutes = "00"] = /^([+-]\d\d):?(\d\d)?$/.exec(offset) ?? [];
  return hours === undefined ? "Z" : `${hours}:${minutes}`;
};

const padded = (part = "00") => part.padStart(2, "0");

/** @param time hours, minutes, seconds, fraction and offset; all but the first two may be left out, or all */
const isoOf = (
  [year, ...monthAndDay]: ReadonlyArray<string | undefined>,
  [hours, minutes, seconds, fraction, offset]: ReadonlyArray<string | undefined>,
): string => {
  const date = [year, ...monthAndDay.map(padded)].join("-");
  if (hours === undefined) return date;
  const parts = fraction === undefined ? "" : `.${fraction}`;
  return `${date}T${[hours, minutes, seconds].map(padded).join(":")}${parts}${offsetOf(offset)}`;
};

/** Spreadsheets count days from the end of 1899. */
const daysBefore1970 = 25_569;

/** The forms of times, except for the `$date` of MongoDB, which has one of these forms inside. @internal */
export const timeForms: ReadonlyArray<TimeForm> = [
  {
    name: "ISO 8601, with `T` or a space",
    examples: [
      "2021-05-04T12:30:00Z",
      "2021-05-04T14:30:00.000+02:00",
      "2021-05-04 12:30:00,000",
      "2021-05-04 12:30:00+00",
      "2021-05-04 12:30 UTC",
      "2021-05-04T14:30:00+02:00[Europe/Paris]",
    ],
    // Java adds the name of the zone.
    pattern:
      /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d{1,9})\d*)? ?(Z|UTC|GMT|[+-]\d\d:?(?:\d\d)?)?(?:(?<=Z|\d)\[[\w/+-]{1,40}\])?$/i,
    read: ([, date, time, fraction, offset]) =>
      `${date}T${time}${fraction === undefined ? "" : `.${fraction}`}${offsetOf(offset)}`,
  },
  { name: "a date", examples: [], pattern: /^\d{4}-\d\d-\d\d$/, read: ([date = ""]) => date },
  {
    name: "the year first, with other separators or without leading zeros",
    examples: ["2021/05/04 12:30:00", "2021-5-4 12:30:00", "2021. 05. 04. 12:30", "2021.5.4 14:30:00 +02:00"],
    pattern:
      /^(\d{4})([-/.]) ?(\d{1,2})\2 ?(\d{1,2})\.?(?:[T ](\d{1,2}):(\d\d)(?::(\d\d))?(?:[.,](\d{1,9})\d*)? ?(Z|UTC|GMT|[+-]\d\d:?(?:\d\d)?)?)?$/i,
    read: ([, year, , month, day, ...time]) => isoOf([year, month, day], time),
  },
  {
    name: "ISO 8601 without separators",
    examples: ["20210504T123000Z", "20210504T1430+0200", "20210504123000"],
    // Read as a number, these digits would be a time to come.
    pattern:
      /^((?:19|20)\d\d)(\d\d)(\d\d)(?:T?(\d\d)(\d\d)(\d\d)?(?:[.,](\d{1,9})\d*)?(Z|[+-]\d\d:?(?:\d\d)?)?)?$/i,
    read: ([, year, month, day, ...time]) => isoOf([year, month, day], time),
  },
  {
    name: "the JSON of .NET",
    examples: ["/Date(1620131400000)/", "/Date(1620131400000+0200)/"],
    pattern: /^\/Date\((\d{1,15})(?:[+-]\d{4})?\)\/$/,
    read: ([, millis]) => Number(millis),
  },
  {
    name: "a timestamp of Discord",
    examples: ["<t:1620131400>", "<t:1620131400:F>"],
    pattern: /^<t:(\d{1,12})(?::[tTdDfFsSR])?>$/,
    read: ([, seconds]) => Number(seconds) * 1000,
  },
  {
    name: "the day numbers of spreadsheets",
    examples: ["44320.520833333336", "44320.5208333"],
    // From 1982 to 2064. Seconds since 1970 have more digits.
    pattern: /^[3-5]\d{4}(?:\.\d+)?$/,
    read: ([days]) => Math.round((Number(days) - daysBefore1970) * 86_400) * 1000,
  },
  {
    name: "the print of Go",
    examples: ["2021-05-04 12:30:00 +0000 UTC", "2021-05-04 14:30:00.000000001 +0200 CEST m=+0.1"],
    pattern:
      /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d{1,9})?) ([+-]\d{4}) (?:[A-Z]{1,5}|[+-]\d{2,4})(?: m=[+-][\d.]+)?$/,
    read: ([, date, time, offset]) => `${date}T${time}${offsetOf(offset)}`,
  },
  {
    name: "RFC 2822",
    examples: ["Tue, 04 May 2021 12:30:00 +0000", "4 May 2021 12:30 GMT"],
    pattern:
      /^(?:[a-z]{3}, ?)?(\d{1,2}) ([a-z]{3}) (\d{4}) (\d\d:\d\d(?::\d\d)?) (Z|UTC?|GMT|[+-]\d{4})(?: \([a-z ]+\))?$/i,
    read: ([, day, month, year, time, offset]) => `${dateOf(year, month, day)}T${time}${offsetOf(offset)}`,
  },
  {
    name: "the print of JavaScript",
    examples: ["Tue May 04 2021 14:30:00 GMT+0200 (Central European Summer Time)"],
    pattern:
      /^[a-z]{3} ([a-z]{3}) (\d{1,2}) (\d{4}) (\d\d:\d\d:\d\d) (?:GMT|UTC)([+-]\d{4})?(?: \(.{1,60}\))?$/i,
    read: ([, month, day, year, time, offset]) => `${dateOf(year, month, day)}T${time}${offsetOf(offset)}`,
  },
  {
    name: "seconds, milliseconds or microseconds since 1970",
    examples: ["1620131400", "1620131400.0009", "1620131400000", "1620131400000000"],
    pattern: /^\d{9,16}(?:\.\d+)?$/,
    read: ([number]) => epochMillis(Number(number)),
  },
];

/** The size of the number shows its unit. */
const epochMillis = (number: number): Millis => {
  if (number < 1e11) return Math.floor(number * 1000);
  return Math.floor(number < 1e14 ? number : number / 1000);
};

/** A date such as `04/05/2021`, with its time in each order. An order is left out if the calendar has no such day. */
export interface NumericDate extends Partial<Readonly<Record<DateOrder, Millis>>> {
  /** Whether the year has two digits, so that it may also come first. */
  readonly isShort: boolean;
}

const numericDate =
  /^(\d{1,2})([-/.])\s?(\d{1,2})\2\s?(\d{4}|\d\d)(?:(?:,?\s|T)(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,9})\d*)?)?(?:\s?([ap])\.?\s?m\.?)?\s?(Z|UTC|GMT|[+-]\d\d:?(?:\d\d)?)?)?$/i;

/** Hours of a clock of 12 hours, if there is an `a` or a `p`. No hour for what such a clock does not show. */
const hoursOf = (hours: string | undefined, half = ""): string | undefined => {
  if (hours === undefined || half === "") return hours;
  const hour = Number(hours);
  return hour < 1 || hour > 12 ? "99" : String((hour % 12) + (half.toLowerCase() === "p" ? 12 : 0));
};

const parseNumericDate = (text: string): NumericDate | Millis | undefined => {
  const parts = numericDate.exec(text);
  if (parts === null) return undefined;
  const [, first, , second, year = "", hours, minutes, seconds, fraction, half, offset] = parts;
  const isShort = year.length === 2;
  const at = (month: string | undefined, day: string | undefined) =>
    parseTimestamp(
      isoOf(
        [isShort ? `20${year}` : year, month, day],
        [hoursOf(hours, half), minutes, seconds, fraction, offset],
      ),
    );
  const [dayFirst, monthFirst] = [at(second, first), at(first, second)].map(Option.getOrUndefined);
  if (dayFirst === monthFirst && !isShort) return dayFirst;
  if (dayFirst === undefined && monthFirst === undefined) return undefined;
  return {
    isShort,
    ...(dayFirst === undefined ? {} : { "day-first": dayFirst }),
    ...(monthFirst === undefined ? {} : { "month-first": monthFirst }),
  };
};

/** No form of a time is longer, so that reading a long value takes no time. */
const longestTime = 120;

/** Reads a time. Returns null for a value without a time, and undefined if the text has no known form. @internal */
export const parseWrittenTime = (written: string): Millis | NumericDate | null | undefined => {
  const text = written.trim();
  if (text === "" || missingTimes.has(text.toLowerCase())) return null;
  if (text.length > longestTime) return undefined;
  for (const { pattern, read } of timeForms) {
    const parts = pattern.exec(text);
    if (parts === null) continue;
    const found = read(parts);
    const time = typeof found === "number" ? found : Option.getOrUndefined(parseTimestamp(found));
    return time === undefined ? undefined : orNoTime(time);
  }
  const date = parseNumericDate(text);
  return typeof date === "number" ? orNoTime(date) : date;
};
