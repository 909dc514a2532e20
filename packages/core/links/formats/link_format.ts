/**
 * What a format of link files is.
 */
import { Data, Option, type Stream } from "effect";
import { redact } from "../../addresses/redaction.ts";
import { isChatId, isGameId } from "../../ids.ts";
import { type Millis, parseTimestamp } from "../../timestamp.ts";
import type { PortableLink } from "../link_store.ts";

/**
 * A way to write links into a file, one link per line, and to read them. `linkFormats` has those that there are.
 */
export interface LinkFormat {
  /** The endings of its files, in lower case, without the dot. */
  readonly endings: ReadonlyArray<string>;

  /** The lines of a file, in constant memory. */
  readonly read: <E, R>(
    bytes: Stream.Stream<Uint8Array, E, R>,
  ) => Stream.Stream<LinkLine, E | UnreadableLinkFile, R>;

  /** The start of a file. */
  readonly header: string;

  /** The line of a link, with its end. */
  readonly write: (link: PortableLink) => string;
}

/** A link as a file has it. */
export interface FileLink extends Omit<PortableLink, "lastVerifiedAt"> {
  /** Null if the line has no time: the link counts as verified at its import. */
  readonly lastVerifiedAt: Millis | null;
}

/** A line that is not a link. */
export interface WrongLine {
  readonly line: number;
  readonly problem: string;
}

/** A line with its link, or with its problem. Lines count from 1. Blank lines are left out. */
export type LinkLine = { readonly line: number; readonly link: FileLink } | WrongLine;

/** The file cannot be parsed from this line on. */
export class UnreadableLinkFile extends Data.TaggedError("UnreadableLinkFile")<{
  readonly line: number;
  readonly reason: string;
}> {
  readonly code = "UNREADABLE_LINK_FILE";
  readonly details = { line: this.line, reason: this.reason };
  override readonly message = `Cannot read line ${this.line}: ${this.reason}`;
}

/** The fields of a line. Others are errors, so that a misspelt one is not lost. */
export const fields = ["chatId", "gameId", "lastVerifiedAt"] as const;

/** The link of the values of a line. */
export const readLink = (
  chatId: unknown,
  gameId: unknown,
  lastVerifiedAt: unknown,
  line: number,
): LinkLine => {
  if (!isChatId(chatId)) return { line, problem: wrong("chatId", chatId, "5 to 32 digits") };
  if (!isGameId(gameId)) return { line, problem: wrong("gameId", gameId, "1 to 32 digits") };
  if (isMissing(lastVerifiedAt)) return { line, link: { chatId, gameId, lastVerifiedAt: null } };
  const time = typeof lastVerifiedAt === "string" ? parseTimestamp(lastVerifiedAt) : Option.none();
  return Option.isNone(time)
    ? { line, problem: wrong("lastVerifiedAt", lastVerifiedAt, expectedTime) }
    : { line, link: { chatId, gameId, lastVerifiedAt: time.value } };
};

const expectedTime = "an ISO 8601 date, or a date and time with its offset";

const isMissing = (value: unknown): boolean => value === undefined || value === null || value === "";

const wrong = (field: string, value: unknown, expected: string): string => {
  if (isMissing(value)) return `${field} is missing, expected ${expected}`;
  return typeof value === "string"
    ? `${field} is ${quoted(value)}, expected ${expected}`
    : `${field} is the JSON ${quoted(JSON.stringify(value))}, expected a string of ${expected}`;
};

/** Quotes a value of a file in a message: shortened, on one line, and without keys. */
export const quoted = (text: string): string => {
  const safe = redact(text);
  return JSON.stringify(safe.length > 40 ? `${safe.slice(0, 40)}…` : safe);
};
