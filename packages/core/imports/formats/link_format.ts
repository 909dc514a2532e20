import { Data, type Stream } from "effect";
import { redact } from "../../addresses/redaction.ts";
import type { GuildId } from "../../ids.ts";
import type { PortableLink } from "../../links/link_store.ts";
import type { Millis } from "../../timestamp.ts";

/** Reads the rows of a file in constant memory. */
export type LinkReader = <E, R>(
  bytes: Stream.Stream<Uint8Array, E, R>,
  options?: ReadOptions,
) => Stream.Stream<LinkLine, E | UnreadableLinkFile, R>;

/** What a word says of its row: `yes`, the link was verified; `no`, it was not; `skip`, nobody knows. */
export type WordChoice = "yes" | "no" | "skip";

/** A word without a known meaning, and in how many rows a column has it. */
export interface OddWord {
  readonly column: string;
  /** In lower case. */
  readonly word: string;
  readonly rows: number;
}

/** Whether day or month comes first in a date such as `04/05/2021`. */
export type DateOrder = "day-first" | "month-first";

/** How unclear times are read: dates by their order, and other times as unknown; or all of them as unknown. */
export type UnclearTimeChoice = DateOrder | "unknown";

/** A time that cannot be read, or only if the order of its date is known. */
export interface UnclearTime {
  readonly column: string;
  /** The first one, shortened. */
  readonly time: string;
  /** Whether only the order of day and month is unclear. */
  readonly isDate: boolean;
  /** How many rows have such a time. */
  readonly rows: number;
}

export interface ReadOptions {
  /** The name of the column with the chat IDs. Needed only if the reader does not find this column itself. */
  readonly chatColumn?: string | undefined;
  /** The name of the column with the game IDs. Needed only if the reader does not find this column itself. */
  readonly gameColumn?: string | undefined;
  /** The name of the column with the times. Needed only if the reader does not find this column itself. */
  readonly timeColumn?: string | undefined;
  /** What words without a known meaning say, by the word in lower case. Rows without a choice are not read. */
  readonly verifiedWords?: Readonly<Record<string, WordChoice>> | undefined;
  /** An additional column that says whether a link was verified. */
  readonly verifiedColumn?: string | undefined;
  /**
   * Columns to ignore. A file cannot be read if it has other unknown columns whose names suggest a time or a
   * verification.
   */
  readonly ignoreColumns?: ReadonlyArray<string> | undefined;
  /**
   * How unclear times are read. Dates such as `04/05/2021` need no choice if other dates of the file have the same
   * order, as far as they can be read in one order only, and `isRepeatable` is true.
   */
  readonly unclearTimes?: UnclearTimeChoice | undefined;
  /** Whether the rows can be read again, once their dates have told the order of day and month. */
  readonly isRepeatable?: boolean | undefined;
  /** A set to which reading adds the names of unread columns, up to 100. */
  readonly unreadColumns?: Set<string> | undefined;
  /** If given, rows of other guilds are left out. */
  readonly guildId?: GuildId | undefined;
  /** Whether a file without a column of guilds is read, with all of its rows. */
  readonly isGuildOptional?: boolean | undefined;
}

export interface FileLink extends Omit<PortableLink, "lastVerifiedAt"> {
  /** Null if the row has no time; the link then counts as verified at its import. */
  readonly lastVerifiedAt: Millis | null;
  /** Whether the row is the main one of its chat user; left out if the file does not say so. */
  readonly isPrimary?: boolean;
}

/** The reasons for leaving out rows, with their texts in reports. @internal */
export const leftOutReasons = {
  destroyed: "A number has lost its digits, so nobody can tell which ID it was",
  swapped: "The two IDs are swapped",
  no_chat_id: "The chat ID is missing",
  no_game_id: "The game ID is missing",
  chat_id: "The chat ID has a wrong form",
  game_id: "The game ID has a wrong form",
  time: "The time cannot be read",
  future: "The time is more than a day ahead",
  row: "The row cannot be read",
  not_verified: "The link was not verified",
  odd_word: "A word does not say whether the link was verified",
  other_guild: "The row is of another guild",
  repeated: "The same link stands in the file again",
  conflict: "The same user has another link in the file, which counts",
  link_limit: "The plan allows no more links",
  import_day: "Imports of the account changed as many links as they may in a day",
  blocked: "One of the two users is blocked",
  game_taken: "Another chat user has this game user, and the scope allows one",
} as const;

export type LeftOutReason = keyof typeof leftOutReasons;

/** The reasons for which correct rows are left out. */
const unwanted: ReadonlySet<LeftOutReason> = new Set([
  "not_verified",
  "odd_word",
  "other_guild",
  "repeated",
  "conflict",
  "link_limit",
  "import_day",
  "blocked",
  "game_taken",
] as const);

export interface LeftOutLine {
  readonly line: number;
  readonly reason: LeftOutReason;
  /** The reason in words, with the wrong value, such as `chatId is "1", expected 5 to 32 digits`. */
  readonly problem: string;
  /** The row's text, shortened and without API keys. */
  readonly text: string;
}

/**
 * Returns whether a row was left out because of an error in it, and not because it is unwanted, such as a repeated
 * link. @internal
 */
export const isWrong = ({ reason }: Pick<LeftOutLine, "reason">): boolean => !unwanted.has(reason);

/**
 * A row of a file with its text: either its link, or the reason to leave the row out. Line numbers start at 1. Blank
 * lines are skipped.
 */
export type LinkLine =
  | { readonly line: number; readonly link: FileLink; readonly text: string }
  | LeftOutLine;

/** Why a file cannot be parsed, as a code with the values of its words, for pages in other languages. */
export type FileProblem =
  | { readonly is: "file"; readonly kind: FileKind }
  | { readonly is: "broken"; readonly what: "json" | "nul" | "long" }
  | { readonly is: "header"; readonly header: string; readonly lacks: "no_chat_id" | "no_game_id" | "other" }
  | { readonly is: "word" | "date" | "time"; readonly column: string; readonly value: string }
  | { readonly is: "columns"; readonly columns: ReadonlyArray<string> };

export type FileKind =
  | "zip"
  | "compressed"
  | "spreadsheet"
  | "pdf"
  | "image"
  | "sqlite"
  | "binary"
  | "empty"
  | "cut"
  | "minecraft";

/** The file cannot be parsed from this line on, or its columns are ambiguous. */
export class UnreadableLinkFile extends Data.TaggedError("UnreadableLinkFile")<{
  readonly line: number;
  readonly reason: string;
  readonly said: FileProblem;
  /**
   * Columns whose meaning is unclear. To read the file, choose each column by `timeColumn` or `verifiedColumn`, or
   * ignore it by `ignoreColumns`.
   */
  readonly unclearColumns?: ReadonlyArray<string>;
  /** Words whose meaning is unclear, counted in the whole file. `verifiedWords` chooses what each of them says. */
  readonly oddWords?: ReadonlyArray<OddWord>;
  /** Times that are unclear, at most one of each kind. `unclearTimes` chooses how they are read. */
  readonly unclearTimes?: ReadonlyArray<UnclearTime>;
}> {
  readonly code = "UNREADABLE_LINK_FILE";
  readonly details = { line: this.line, reason: this.reason };
  override readonly message = `Cannot read line ${this.line}: ${this.reason}`;
}

export const fields = ["chatId", "gameId", "lastVerifiedAt"] as const;

/** Quotes a value of a file in a message: shortened, on one line, and without API keys. */
export const quoted = (text: string): string => JSON.stringify(shortened(text, 40));

export const longestText = 500;

export const rowText = (text: string): string => shortened(text, longestText);

export const shortened = (text: string, length: number): string => {
  const safe = redact(text.slice(0, 10 * length));
  return safe.length > length ? `${safe.slice(0, length)}…` : safe;
};
