/** Times and numbers on the pages. Times are in UTC, like the days of limits and usage. */
import { dayMs, formatTimestamp, type Millis } from "@accountlink/core/timestamp";
import { type Html, html } from "../../html.ts";
import { inLanguage, ofTag } from "../../said.ts";

/** The UTC day of a time, such as `2026-01-31`. */
export const dayOf = (time: Millis): string => formatTimestamp(time).slice(0, 10);

/** The start of a UTC day such as `2026-01-31`; null for any other text. */
export const dayMsOf = (text: string): Millis | null => {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? null : time;
};

const timeText = (time: Millis): string => {
  const text = formatTimestamp(time);
  return `${text.slice(0, 10)} ${text.slice(11, 16)} UTC`;
};

const moments = ofTag(
  (tag) => new Intl.DateTimeFormat(tag, { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" }),
);
const dates = ofTag((tag) => new Intl.DateTimeFormat(tag, { dateStyle: "medium", timeZone: "UTC" }));
const numbers = ofTag((tag) => new Intl.NumberFormat(tag));
const relative = ofTag((tag) => {
  const format = new Intl.RelativeTimeFormat(tag, { numeric: "always" });
  return format.format.bind(format);
});
const relativeDays = ofTag((tag) => new Intl.RelativeTimeFormat(tag, { numeric: "auto" }));
const durations = ofTag(
  (tag) => (count: number, unit: Unit | "second") =>
    new Intl.NumberFormat(tag, { style: "unit", unit, unitDisplay: "long" }).format(count),
);

/** A time, which scripts write in the zone of the reader. English pages without a script show ISO 8601, which has one form. */
export const timeHtml = (time: Millis): Html =>
  inLanguage(
    ({ tag }) =>
      html`<time datetime="${formatTimestamp(time)}">${tag === "en" ? timeText(time) : `${moments(tag).format(time)} UTC`}</time>`,
  );

/** A UTC day, which scripts write in the reader's form without moving it to another zone. */
export const dayHtml = (time: Millis): Html =>
  inLanguage(
    ({ tag }) =>
      html`<time datetime="${dayOf(time)}">${tag === "en" ? dayOf(time) : dates(tag).format(time)}</time>`,
  );

export const numberHtml = (count: number): Html =>
  inLanguage(({ tag }) => html`${numbers(tag).format(count)}`);

type Unit = "minute" | "hour" | "day" | "month" | "year";

/** Whole minutes, hours or days. */
const partsOf = (duration: Millis): readonly [count: number, unit: Unit] => {
  const minutes = Math.max(0, Math.floor(duration / 60_000));
  if (minutes < 60) return [minutes, "minute"];
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? [hours, "hour"] : [Math.floor(hours / 24), "day"];
};

/** Whole days, months or years. */
const agePartsOf = (since: Millis, now: Millis): readonly [count: number, unit: Unit] => {
  const count = Math.max(0, Math.floor((now - since) / dayMs));
  if (count < 60) return [count, "day"];
  return count < 730 ? [Math.floor(count / 30.5), "month"] : [Math.floor(count / 365.25), "year"];
};

const inUnits = (
  formats: (tag: string) => (count: number, unit: Unit | "second") => string,
  [count, unit]: readonly [count: number, unit: Unit | "second"],
): Html => inLanguage(({ tag }) => html`${formats(tag)(count, unit)}`);

const ago = (tag: string) => (count: number, unit: Unit | "second") => relative(tag)(-count, unit);

/** A duration in whole minutes, hours or days, such as "3 days". */
export const durationHtml = (duration: Millis): Html => inUnits(durations, partsOf(duration));

/** How long ago something was, such as "3 days ago", within the first minute in seconds. */
export const agoHtml = (duration: Millis): Html => {
  const seconds = Math.max(0, Math.floor(duration / 1_000));
  return inUnits(ago, seconds < 60 ? [seconds, "second"] : partsOf(duration));
};

/** How long it is until a time, such as "in 3 days". */
export const inTimeHtml = (duration: Millis): Html => inUnits(relative, partsOf(duration));

/** How old something is in whole days, months or years, such as "7 years". */
export const ageHtml = (since: Millis, now: Millis): Html => inUnits(durations, agePartsOf(since, now));

/** How long ago something was in whole days, months or years, such as "7 years ago". */
export const ageAgoHtml = (since: Millis, now: Millis): Html => inUnits(ago, agePartsOf(since, now));

/** Which day it was, such as "yesterday" or "3 days ago". */
export const dayAgoHtml = (time: Millis, now: Millis): Html =>
  inLanguage(
    ({ tag }) => html`${relativeDays(tag).format(-Math.max(0, Math.floor((now - time) / dayMs)), "day")}`,
  );

export const timeOr = (time: Millis | null, otherwise: string): Html | string =>
  time === null ? otherwise : timeHtml(time);
