/**
 * Reads the values of a row in any format. A number is accepted as an ID only if it cannot have lost its last digits.
 */
import { Option, Predicate } from "effect";
import { isChatId, isGameId } from "../../ids.ts";
import { dayMs, type Millis, parseTimestamp } from "../../timestamp.ts";
import { type Columns, columnsOf, reportUnread } from "./columns.ts";
import {
  type LeftOutReason,
  type LinkLine,
  longestText,
  quoted,
  type ReadOptions,
  rowText,
} from "./link_format.ts";

export interface RowOptions extends ReadOptions {
  /** The time at which the file is read. */
  readonly now: Millis;
}

export interface Row {
  readonly line: number;
  readonly values: ReadonlyArray<unknown>;
  /** The unchanged text of the row. */
  readonly text: string;
}

export const leftOut = (
  { line, text }: Pick<Row, "line" | "text">,
  reason: LeftOutReason,
  problem: string,
) => ({
  line,
  reason,
  problem,
  text: rowText(text),
});

export const readRow = (row: Row, columns: Columns, { guildId, now }: RowOptions): LinkLine => {
  const { line, values, text } = row;
  if (guildId !== undefined && idOf(values[columns.guildId]).id !== guildId) {
    return leftOut(row, "other_guild", `the row is not of guild ${guildId}`);
  }
  if (columns.verified.some((column) => isUnverified(values[column]))) {
    return leftOut(row, "not_verified", "the link was not verified");
  }
  const chat = idOf(values[columns.chatId]);
  const game = idOf(values[columns.gameId]);
  if (!columns.isOwn && isSwapped(chat.id, game.id)) {
    return leftOut(row, "swapped", `the chat ID is ${chat.id} and the game ID ${game.id}: they look swapped`);
  }
  if (!isChatId(chat.id)) return wrongId(row, chat, "chat", "5 to 32 digits");
  if (!isGameId(game.id)) return wrongId(row, game, "game", "1 to 32 digits");
  const lastVerifiedAt = timeOf(values[columns.time]);
  if (lastVerifiedAt === undefined) {
    const value = quoted(textOf(values[columns.time]));
    return leftOut(row, "time", `the time is ${value}, expected an ISO 8601 date, or a date and time`);
  }
  if (lastVerifiedAt !== null && lastVerifiedAt > now + dayMs) {
    const value = quoted(textOf(values[columns.time]));
    return leftOut(row, "future", `the time is ${value}, expected one that is at most a day ahead`);
  }
  const kept = text.length > longestText ? rowText(text) : text;
  return { line, link: { chatId: chat.id, gameId: game.id, lastVerifiedAt }, text: kept };
};

/** An ID as read from a file. `id` is null if the value is a number that may have lost digits. */
interface ReadId {
  readonly id: string | null;
  readonly value: unknown;
}

const idOf = (value: unknown): ReadId => {
  if (typeof value === "string") return { id: digitsOf(value.trim()), value };
  if (typeof value === "number") return { id: Number.isSafeInteger(value) ? String(value) : null, value };
  if (typeof value === "bigint") return { id: String(value), value };
  const inner = extendedValue(value, ["$numberLong", "$numberInt", "$numberDouble"]);
  return inner === undefined ? { id: textOf(value), value } : idOf(inner);
};

/** Returns the text or number in a value of MongoDB, such as `{"$numberLong": "1"}`; undefined for other values. */
const extendedValue = (value: unknown, names: ReadonlyArray<string>): string | number | undefined => {
  if (!Predicate.isObject(value)) return undefined;
  const inner = names.map((name) => value[name]).find((each) => each !== undefined && each !== null);
  return typeof inner === "string" || typeof inner === "number" ? inner : undefined;
};

/** A decimal number such as `1.2E+17` or `2345678.0`. */
const decimal = /^[+-]?\d+(?:[.,]\d+)?(?:e[+-]?\d+)?$/i;

const digitsOf = (text: string): string | null => {
  if (/^[+-]?\d*$/.test(text) || !decimal.test(text)) return text;
  const whole = /^(\d{1,15})[.,]0+$/.exec(text)?.[1];
  return whole ?? null;
};

const wrongId = (row: Row, { id, value }: ReadId, platform: "chat" | "game", expected: string): LinkLine => {
  const name = `${platform}Id`;
  if (id === "") return leftOut(row, `no_${platform}_id`, `${name} is missing, expected ${expected}`);
  if (id !== null) {
    const what = id.startsWith("=") ? `the formula ${quoted(id)}` : quoted(id);
    return leftOut(row, `${platform}_id`, `${name} is ${what}, expected ${expected}`);
  }
  const found = quoted(textOf(value));
  const problem =
    typeof value === "string"
      ? `${name} is ${found}: a spreadsheet has destroyed the number, export it again with the column as text`
      : `${name} is the number ${found}, whose last digits are lost: write it as text, in quotes`;
  return leftOut(row, "destroyed", problem);
};

/** Discord IDs have 17 digits or more, Roblox IDs 12 or fewer. */
const isSwapped = (chatId: string | null, gameId: string | null): boolean =>
  chatId !== null && gameId !== null && /^\d{1,12}$/.test(chatId) && /^\d{17,20}$/.test(gameId);

const isUnverified = (value: unknown): boolean =>
  /^(?:false|0|no|unverified|pending)$/i.test(textOf(value).trim());

const textOf = (value: unknown): string => {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (typeof value === "bigint") return String(value);
  try {
    return JSON.stringify(value);
  } catch {
    // The value is nested too deeply for the stack.
    return Array.isArray(value) ? "[…]" : "{…}";
  }
};

/**
 * Reads a time. A time without an offset is in UTC. Returns null if there is no value, and undefined if the value
 * cannot be read as a time.
 */
const timeOf = (value: unknown): Millis | null | undefined => {
  const inner = Predicate.isObject(value) && value["$date"] !== undefined ? value["$date"] : value;
  const text = textOf(extendedValue(inner, ["$numberLong", "$numberInt"]) ?? inner).trim();
  if (text === "") return null;
  if (/^\d{9,16}(?:\.\d+)?$/.test(text)) return epochMillis(Number(text));
  const iso = text
    .replace(/^(\d{4}-\d\d-\d\d) (?=\d)/, "$1T")
    .replace(/(T[\d:.]+?) ?(?:UTC|GMT)$/, "$1Z")
    // Postgres writes `+00`, and other systems `+0000`.
    .replace(
      /(T[\d:.]+) ?([+-]\d\d)(\d\d)?$/,
      (_, time, hours, minutes = "00") => `${time}${hours}:${minutes}`,
    );
  const isLocal = /T[\d:.]+$/.test(iso);
  return Option.getOrUndefined(parseTimestamp(isLocal ? `${iso}Z` : iso));
};

/**
 * Reads a time in seconds, milliseconds or microseconds since the epoch. The size of the number shows which unit it
 * has.
 */
const epochMillis = (number: number): Millis => {
  if (number < 1e11) return Math.floor(number * 1000);
  return Math.floor(number < 1e14 ? number : number / 1000);
};

/** Makes a reader for the rows of a database table, or returns why its columns are not links. @internal */
export const tableReader = (names: ReadonlyArray<string>, options: RowOptions) => {
  const columns = columnsOf(names, options);
  if ("problem" in columns) return columns.problem;
  return {
    read: (row: Row) => readRow(row, columns, options),
    /** Adds the unread columns to `ReadOptions.unreadColumns`. Returns an error if one is unclear, or null. */
    refusal: () => reportUnread(columns, 1, options),
  };
};
