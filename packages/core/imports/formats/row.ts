/**
 * Reads the values of a row in any format. A number is accepted as an ID only if it cannot have lost its last digits.
 */
import { Predicate } from "effect";
import { isChatId, isGameId } from "../../ids.ts";
import { dayMs, type Millis } from "../../timestamp.ts";
import { type Columns, columnsOf, reportUnread } from "./columns.ts";
import {
  type DateOrder,
  type FileLink,
  type LeftOutReason,
  type LinkLine,
  longestText,
  quoted,
  type ReadOptions,
  rowText,
  shortened,
  type UnclearTimeChoice,
  type WordChoice,
} from "./link_format.ts";
import type { OddRow, OddTimeRow } from "./odd_rows.ts";
import type { StateSense } from "./state_columns.ts";
import {
  missingTimes,
  type NumericDate,
  noWords,
  orNoTime,
  parseWrittenTime,
  unverifiedWords,
  verifiedWords,
  yesWords,
} from "./written_forms.ts";

export interface RowOptions extends ReadOptions {
  readonly now: Millis;
  /** How the file's unclear times are read, as the user or the file's other dates tell; undefined if nobody does. */
  readonly timesAs: UnclearTimeChoice | undefined;
  /** A set to which reading adds the orders of the dates that have one reading only. */
  readonly dateOrders: Set<DateOrder>;
}

export interface Row {
  readonly line: number;
  readonly values: ReadonlyArray<unknown>;
  /** The unchanged text of the row. */
  readonly text: string;
}

export const leaveOut = (
  { line, text }: Pick<Row, "line" | "text">,
  reason: LeftOutReason,
  problem: string,
) => ({ line, reason, problem, text: rowText(text) });

/** Reads the link of a row. Returns an odd row if a word or a time is unclear, so that nobody guesses. */
export const readRow = (row: Row, columns: Columns, options: RowOptions): LinkLine | OddRow => {
  const { guildId, verifiedWords: choices } = options;
  // Also read for rows that are left out, since their dates tell the order of the others.
  const lastVerifiedAt = timeOf(row, columns, options);
  const { line, values, text } = row;
  if (guildId !== undefined && columns.guildId !== -1 && idOf(values[columns.guildId]).id !== guildId) {
    return leaveOut(row, "other_guild", `the row is not of guild ${guildId}`);
  }
  const unproven = unprovenOf(row, columns, choices);
  if (unproven !== null) return unproven;
  const chat = idOf(values[columns.chatId]);
  const game = idOf(values[columns.gameId]);
  if (!columns.isOwn && isSwapped(chat.id, game.id)) {
    return leaveOut(
      row,
      "swapped",
      `the chat ID is ${chat.id} and the game ID ${game.id}: they look swapped`,
    );
  }
  if (!isChatId(chat.id) || hasLeadingZero(chat.id)) return wrongId(row, chat, "chat", "5 to 32 digits");
  if (!isGameId(game.id) || hasLeadingZero(game.id) || game.id === "0")
    return wrongId(row, game, "game", "1 to 32 digits");
  if (typeof lastVerifiedAt === "object" && lastVerifiedAt !== null) return lastVerifiedAt;
  const kept = text.length > longestText ? rowText(text) : text;
  const link = { chatId: chat.id, gameId: game.id, lastVerifiedAt, ...primaryOf(values[columns.primary]) };
  return { line, link, text: kept };
};

/** Returns why a row is left out by its columns of states, or the word that nobody understands; null for a link. */
const unprovenOf = (row: Row, { states, names }: Columns, choices: ReadOptions["verifiedWords"]) => {
  const read = states.map(({ index, sense }) => {
    const word = wordOf(row.values[index]);
    return { column: names[index] ?? "", word, state: stateOf(word, sense, choices) };
  });
  const having = (state: State) => read.find((each) => each.state === state);
  if (having("no") !== undefined) return leaveOut(row, "not_verified", "the link was not verified");
  const odd = having("odd");
  if (odd !== undefined) return { line: row.line, column: odd.column, word: odd.word };
  const skipped = having("skip");
  return skipped === undefined
    ? null
    : leaveOut(row, "odd_word", `column ${quoted(skipped.column)} says ${quoted(skipped.word)}`);
};

const timeOf = (row: Row, columns: Columns, options: RowOptions): Millis | LinkLine | OddTimeRow | null => {
  const value = row.values[columns.time];
  const written = writtenTime(value);
  const parsed = typeof written === "number" ? orNoTime(written) : parseWrittenTime(written);
  const isDate = typeof parsed === "object" && parsed !== null;
  const time = isDate ? timeOfDate(parsed, options) : parsed;
  if (time === undefined) {
    if (options.timesAs !== undefined) return null;
    const column = columns.names[columns.time] ?? "";
    return { line: row.line, column, time: shortened(textOf(value), 40), isDate };
  }
  return time === null || time <= options.now + dayMs
    ? time
    : leaveOut(
        row,
        "future",
        `the time is ${quoted(textOf(value))}, expected one that is at most a day ahead`,
      );
};

/** Returns undefined if the order of day and month is not known. */
const timeOfDate = (date: NumericDate, { timesAs, dateOrders }: RowOptions): Millis | null | undefined => {
  const [order, other] = dateOrderNames.filter((each) => date[each] !== undefined);
  if (order !== undefined && other === undefined && !date.isShort) {
    dateOrders.add(order);
    return date[order];
  }
  if (timesAs === undefined || timesAs === "unknown") return timesAs && null;
  return date[timesAs] ?? (order && date[order]);
};

const dateOrderNames = ["day-first", "month-first"] as const;

const hasLeadingZero = (id: string): boolean => /^0\d/.test(id);

/** An ID as read from a file. `id` is null if the value is a number that may have lost digits. */
interface ReadId {
  readonly id: string | null;
  readonly value: unknown;
}

const idOf = (value: unknown): ReadId => {
  if (typeof value === "string") return { id: digitsOf(unwrapped(value.trim())), value };
  if (typeof value === "number") return { id: Number.isSafeInteger(value) ? String(value) : null, value };
  if (typeof value === "bigint") return { id: String(value), value };
  const inner = extendedValue(value, numberNames);
  return inner === undefined ? { id: textOf(value), value } : idOf(inner);
};

const numberNames = ["$numberLong", "$numberInt", "$numberDouble"];

/** Returns the text or number in a value of MongoDB, such as `{"$numberLong": "1"}`; undefined for other values. */
const extendedValue = (value: unknown, names: ReadonlyArray<string>): string | number | undefined => {
  if (!Predicate.isObject(value)) return undefined;
  const inner = names.map((name) => value[name]).find((each) => each !== undefined && each !== null);
  return typeof inner === "string" || typeof inner === "number" ? inner : undefined;
};

/**
 * Returns the text in `'text` and `="text"`, by which spreadsheets hold numbers as text, and the ID in a mention and in the
 * address of a profile.
 */
const unwrapped = (text: string): string =>
  /^(?:'|="(?=.*"$))([^"]*)"?$/.exec(text)?.[1] ??
  /^<@!?(\d+)>$/.exec(text)?.[1] ??
  /^https:\/\/[\w.-]+(?:\/[a-z-]{2,5})?\/users\/(\d+)(?:[/?#]\S*)?$/i.exec(text)?.[1] ??
  text;

/** A decimal number such as `1.2E+17` or `2345678.0`. */
const decimal = /^[+-]?\d+(?:[.,]\d+)?(?:e[+-]?\d+)?$/i;

const digitsOf = (text: string): string | null => {
  if (/^[+-]?\d*$/.test(text) || !decimal.test(text)) return text;
  // `1,000` may be a thousand.
  const whole = /^(?!\d{1,3}[.,]000$)(\d{1,15})[.,]0+$/.exec(text)?.[1];
  return whole ?? null;
};

/** What stands in place of an ID that is not there. */
const missingIds = new Set([...missingTimes, ""]);

const wrongId = (row: Row, { id, value }: ReadId, platform: "chat" | "game", expected: string): LinkLine => {
  const name = `${platform}Id`;
  if (id !== null && missingIds.has(id.toLowerCase()))
    return leaveOut(row, `no_${platform}_id`, `${name} is missing, expected ${expected}`);
  if (id !== null) {
    const what = id.startsWith("=") ? `the formula ${quoted(id)}` : quoted(id);
    const wanted = hasLeadingZero(id) ? "no zero at the beginning" : expected;
    return leaveOut(row, `${platform}_id`, `${name} is ${what}, expected ${wanted}`);
  }
  const found = quoted(textOf(value));
  const problem =
    typeof value === "string"
      ? `${name} is ${found}: a spreadsheet has destroyed the number, export it again with the column as text`
      : `${name} is the number ${found}, whose last digits are lost: write it as text, in quotes`;
  return leaveOut(row, "destroyed", problem);
};

/**
 * Discord IDs have 17 digits or more, IDs of Roblox and Xbox fewer. Steam IDs begin with digits that only Discord IDs of two
 * seconds of 2015 begin with.
 */
const isSwapped = (chatId: string | null, gameId: string | null): boolean =>
  chatId !== null &&
  gameId !== null &&
  /^(?:\d{1,16}|7656119\d{10})$/.test(chatId) &&
  /^(?!7656119\d{10}$)\d{17,20}$/.test(gameId);

type State = WordChoice | "odd";

const wordOf = (value: unknown): string =>
  textOf(extendedValue(value, numberNames) ?? value)
    .trim()
    .toLowerCase();

const stateOf = (word: string, sense: StateSense, choices: ReadOptions["verifiedWords"] = {}): State => {
  if (Object.hasOwn(choices, word)) return choices[word] ?? "odd";
  if (sense === "over") {
    if (word === "" || noWords.has(word)) return "yes";
    if (yesWords.has(word)) return "no";
    // A column such as `deleted_at` has the time of the end.
    const time = parseWrittenTime(word);
    if (time === undefined) return "odd";
    return time === null ? "yes" : "no";
  }
  if (word === "" || unverifiedWords.has(word)) return "no";
  return verifiedWords.has(word) ? "yes" : "odd";
};

/** Returns whether the row is the main one of its chat user; nothing if its column does not say so. */
const primaryOf = (value: unknown): Pick<FileLink, "isPrimary"> => {
  const word = wordOf(value);
  if (yesWords.has(word)) return { isPrimary: true };
  return noWords.has(word) ? { isPrimary: false } : {};
};

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

/** Seconds since 1970 in a timestamp of Firestore or MongoDB; undefined for anything else. */
const timestampSeconds = (value: unknown): number | undefined => {
  if (!Predicate.isObject(value)) return undefined;
  // Exports of Firestore name the kind of a value beside it.
  if (value["__datatype__"] === "timestamp") return timestampSeconds(value["value"]);
  const { $timestamp: inner } = value;
  const seconds = Predicate.isObject(inner) ? inner["t"] : (value["_seconds"] ?? value["seconds"]);
  const number = Number(extendedValue(seconds, numberNames) ?? seconds);
  return (typeof seconds === "number" || typeof seconds === "string" || Predicate.isObject(seconds)) &&
    Number.isSafeInteger(number)
    ? number
    : undefined;
};

/** Returns the text of a time, or the milliseconds in a timestamp of a database, such as the `$date` of MongoDB. */
const writtenTime = (value: unknown): string | Millis => {
  const seconds = timestampSeconds(value);
  if (seconds !== undefined) return seconds * 1000;
  const isDate = Predicate.isObject(value) && value["$date"] !== undefined;
  const inner = isDate ? value["$date"] : value;
  const written = extendedValue(inner, numberNames) ?? inner;
  const isMillis = isDate && (typeof written === "number" || written !== inner);
  return isMillis && Number.isSafeInteger(Number(written)) ? Number(written) : textOf(written);
};

/** Makes a reader for the rows of a database table, or returns why its columns are not links. @internal */
export const tableReader = (names: ReadonlyArray<string>, options: ReadOptions) => {
  const columns = columnsOf(names, options);
  if ("problem" in columns) return columns.problem;
  return {
    read: (row: Row, rowOptions: RowOptions) => readRow(row, columns, rowOptions),
    /** Adds the unread columns to `ReadOptions.unreadColumns`. Returns an error if one is unclear, or null. */
    refusal: () => reportUnread(columns, 1, options),
  };
};
