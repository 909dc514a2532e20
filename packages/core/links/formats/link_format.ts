/** What a format of link files is. */
import { Data, type Stream } from "effect";
import { redact } from "../../addresses/redaction.ts";
import type { GuildId } from "../../ids.ts";
import type { Millis } from "../../timestamp.ts";
import type { PortableLink } from "../link_store.ts";

/**
 * A way to write links into a file, one link per line, and to read them. `linkFormats` has those that there are.
 */
export interface LinkFormat {
  /** The endings of its files, in lower case, without the dot. */
  readonly endings: ReadonlyArray<string>;

  /** The rows of a file, in constant memory. */
  readonly read: <E, R>(
    bytes: Stream.Stream<Uint8Array, E, R>,
    options?: ReadOptions,
  ) => Stream.Stream<LinkLine, E | UnreadableLinkFile, R>;

  /** The start of a file. */
  readonly header: string;

  /** The line of a link, with its end. */
  readonly write: (link: PortableLink) => string;
}

/** Which columns and rows of a file count. */
export interface ReadOptions {
  /** The column of chat IDs, where it has another name than those that are known. */
  readonly chatColumn?: string | undefined;
  /** The column of game IDs, likewise. */
  readonly gameColumn?: string | undefined;
  /** The column of times, likewise. */
  readonly timeColumn?: string | undefined;
  /** A column that says whether a link was verified, beside those that are known. */
  readonly verifiedColumn?: string | undefined;
  /**
   * Columns that are not read. Without it, an unknown column whose name speaks of time or verification makes the file
   * unreadable.
   */
  readonly ignoreColumns?: ReadonlyArray<string> | undefined;
  /** Reading adds the names of columns that are not read, up to 100. */
  readonly unreadColumns?: Set<string> | undefined;
  /** Leaves rows of other guilds out. */
  readonly guildId?: GuildId | undefined;
}

/** A link as a file has it. */
export interface FileLink extends Omit<PortableLink, "lastVerifiedAt"> {
  /** Null if the row has no time: the link counts as verified at its import. */
  readonly lastVerifiedAt: Millis | null;
}

/**
 * Why rows are left out, as reports say it.
 *
 * @internal
 */
export const leftOutReasons = {
  destroyed: "A number has lost its digits, so nobody can tell which ID it was",
  swapped: "The two IDs are swapped",
  no_chat_id: "The chat ID is missing",
  no_game_id: "The game ID is missing",
  chat_id: "The chat ID is not an ID",
  game_id: "The game ID is not an ID",
  time: "The time cannot be read",
  row: "The row cannot be read",
  not_verified: "The link was not verified",
  other_guild: "The row is of another guild",
  repeated: "The same link stands in the file again",
  conflict: "The chat user has another link in the file, which counts",
} as const;

export type LeftOutReason = keyof typeof leftOutReasons;

/** Rows that are right, but not wanted. */
const unwanted: ReadonlySet<LeftOutReason> = new Set([
  "not_verified",
  "other_guild",
  "repeated",
  "conflict",
] as const);

/** A row that is left out. */
export interface LeftOutLine {
  readonly line: number;
  readonly reason: LeftOutReason;
  /** What is wrong with this very row. */
  readonly problem: string;
  /** The row as it stands in the file, shortened and without keys. */
  readonly text: string;
}

/**
 * Whether something is wrong with the row itself.
 *
 * @internal
 */
export const isWrong = ({ reason }: LeftOutLine): boolean => !unwanted.has(reason);

/** A row with its link, or with the reason to leave it out. Lines count from 1. Blank lines are skipped. */
export type LinkLine = { readonly line: number; readonly link: FileLink } | LeftOutLine;

/** The file cannot be parsed from this line on, or not without a choice of columns. */
export class UnreadableLinkFile extends Data.TaggedError("UnreadableLinkFile")<{
  readonly line: number;
  readonly reason: string;
  /** The columns that have to be named or ignored. */
  readonly unclearColumns?: ReadonlyArray<string>;
}> {
  readonly code = "UNREADABLE_LINK_FILE";
  readonly details = { line: this.line, reason: this.reason };
  override readonly message = `Cannot read line ${this.line}: ${this.reason}`;
}

/** The fields of a line that is written. */
export const fields = ["chatId", "gameId", "lastVerifiedAt"] as const;

/** Quotes a value of a file in a message: shortened, on one line, and without keys. */
export const quoted = (text: string): string => JSON.stringify(shortened(text, 40));

/** A row of a file for a report. */
export const rowText = (text: string): string => shortened(text, 500);

export const shortened = (text: string, length: number): string => {
  const safe = redact(text.slice(0, 10 * length));
  return safe.length > length ? `${safe.slice(0, length)}…` : safe;
};
