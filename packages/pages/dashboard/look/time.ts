/** Times on the pages, all in UTC, like the days of limits and usage. */
import { dayMs, formatTimestamp, type Millis } from "@accountlink/core/timestamp";
import { type Html, html } from "../../html.ts";

/** The UTC day of a time, such as `2026-01-31`. */
export const dayOf = (time: Millis): string => formatTimestamp(time).slice(0, 10);

/** The start of a UTC day such as `2026-01-31`; null for any other text. */
export const dayMsOf = (text: string): Millis | null => {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? null : time;
};

export const timeText = (time: Millis): string => {
  const text = formatTimestamp(time);
  return `${text.slice(0, 10)} ${text.slice(11, 16)} UTC`;
};

export const timeHtml = (time: Millis): Html =>
  html`<time datetime="${formatTimestamp(time)}">${timeText(time)}</time>`;

/** A UTC day, which scripts write in the reader's form without moving it to another zone. */
export const dayHtml = (time: Millis): Html => html`<time datetime="${dayOf(time)}">${dayOf(time)}</time>`;

export const timeOr = (time: Millis | null, otherwise: string): Html | string =>
  time === null ? otherwise : timeHtml(time);

export const timeUntil = (time: Millis, now: Millis): string => `in ${durationText(time - now)}`;

/** Formats a duration in whole minutes, hours or days, such as "3 days". */
export const durationText = (duration: Millis): string => {
  const minutes = Math.max(0, Math.floor(duration / 60_000));
  if (minutes < 60) return counted(minutes, "minute");
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? counted(hours, "hour") : counted(Math.floor(hours / 24), "day");
};

/** Says how old something is in whole days, months or years, such as "7 years". */
export const ageText = (since: Millis, now: Millis): string => {
  const days = Math.max(0, Math.floor((now - since) / dayMs));
  if (days < 60) return counted(days, "day");
  return days < 730 ? counted(Math.floor(days / 30.5), "month") : counted(Math.floor(days / 365.25), "year");
};

export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${numberText(count)} ${count === 1 ? noun : plural}`;

export const numberText = (count: number): string => count.toLocaleString("en");
