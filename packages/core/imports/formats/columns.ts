/** Finds the columns of a file. Other systems have many names for the same column. */
import {
  type LeftOutReason,
  quoted,
  type ReadOptions,
  shortened,
  UnreadableLinkFile,
} from "./link_format.ts";
import { type StateSense, stateSenseOf, wordsOf } from "./state_columns.ts";

/** The index of each column in the header; -1 if the header does not have the column. */
export interface Columns {
  readonly names: ReadonlyArray<string>;
  readonly chatId: number;
  readonly gameId: number;
  readonly time: number;
  readonly guildId: number;
  /** All columns that say whether a link was verified, or whether it is over. */
  readonly states: ReadonlyArray<{ readonly index: number; readonly sense: StateSense }>;
  readonly primary: number;
  /** Whether the ID columns have the names of this service's exports. If so, rows are not checked for swapped IDs. */
  readonly isOwn: boolean;
  readonly unread: ReadonlyArray<string>;
  /** Unread columns that may say when or whether a link was verified, but do not have a known name. */
  readonly unclear: ReadonlyArray<string>;
}

/**
 * The names that identify each column, as `plain` normalizes them. If a header has several names of one list, the name
 * that is first in the list is used.
 */
const known = {
  chatId: ["chatid", "discordid", "discorduserid", "discord", "userid", "_id"],
  gameId: ["gameid", "robloxid", "robloxuserid", "roblox", "defaultaccountid", "primaryaccount"],
  time: [
    "verifiedat",
    "verifiedon",
    "verificationdate",
    "lastverifiedat",
    "linkedat",
    "createdat",
    "timestamp",
  ],
  guildId: ["guildid"],
  primary: ["isprimary", "primary", "isdefault", "ismain"],
} as const;

const maxUnread = 100;

/** The most columns of a file, so that no single row takes long. */
export const maxColumns = 1_000;

/** Normalizes a name: lower case, without separators. `_id` stays different from `id`, which is often a row number. */
const plain = (name: string): string => {
  const lower = name.trim().toLowerCase();
  return lower === "_id" ? lower : lower.replaceAll(/[\s_?-]/g, "");
};

/** Returns whether the name of a column suggests a verification, a time, or the state of something. */
const isSuspicious = (name: string): boolean => {
  const words = wordsOf(name);
  if (words.some((word) => suspiciousWord.test(word)) || suspiciousEnd.test(words.at(-1) ?? "")) return true;
  return stateSenseOf(name) === "unclear";
};

const suspiciousWord = /verif|confirm|^(?:date|time(?!zone))|(?:date|time|stamp)$|ed(?:at|on)$/;

const suspiciousEnd =
  /^(?:at|on|since|when|ts|epoch|created|updated|modified|joined|registered|seen|expires|expiry)$/;

/** Why the columns of a file, or the properties of a JSON row, cannot be read as links. */
export interface ColumnProblem {
  readonly reason: LeftOutReason;
  readonly problem: string;
}

/** Whether imports recognize a column of game IDs by this name. @internal */
export const isGameColumn = (name: string): boolean =>
  (known.gameId as ReadonlyArray<string>).includes(plain(name));

export const columnsOf = (names: ReadonlyArray<string>, options: ReadOptions): Columns | ColumnProblem =>
  names.length > maxColumns
    ? { reason: "row", problem: `expected at most ${maxColumns} columns` }
    : findColumns(names, options);

/** Whether only a file with a column of guilds can be read. */
const needsGuild = ({ guildId, isGuildOptional }: ReadOptions): boolean =>
  guildId !== undefined && isGuildOptional !== true;

const findColumns = (names: ReadonlyArray<string>, options: ReadOptions): Columns | ColumnProblem => {
  const plainNames = names.map(plain);
  const ignored = new Set(options.ignoreColumns?.map(plain));
  const find = (role: keyof typeof known) => {
    const name = known[role].find((each) => !ignored.has(each) && plainNames.includes(each));
    return name === undefined ? -1 : plainNames.indexOf(name);
  };
  const indexOf = (chosen: string | undefined) => {
    if (chosen === undefined) return -1;
    const exact = names.findIndex((name) => name.trim() === chosen.trim());
    return exact === -1 ? plainNames.indexOf(plain(chosen)) : exact;
  };
  const named = (chosen: string | undefined, role: keyof typeof known) =>
    chosen === undefined ? find(role) : indexOf(chosen);
  const chatId = named(options.chatColumn, "chatId");
  const gameId = named(options.gameColumn, "gameId");
  const time = named(options.timeColumn, "time");
  const verifiedColumn = indexOf(options.verifiedColumn);
  const missing = [
    ...(chatId === -1 ? [lacking("chat IDs", options.chatColumn, "chatId, discord_id or user_id")] : []),
    ...(gameId === -1 ? [lacking("game IDs", options.gameColumn, "gameId or roblox_id")] : []),
  ];
  if (missing.length > 0) {
    const isMinecraft = plainNames.some((name) => name === "uuid" || name === "minecraftuuid");
    const reason = chatId === -1 ? "no_chat_id" : "no_game_id";
    return { reason, problem: isMinecraft ? minecraft : `expected ${missing.join(", and ")}` };
  }
  const absent = [
    { name: options.timeColumn, index: time, reason: "time" as const },
    { name: options.verifiedColumn, index: verifiedColumn, reason: "not_verified" as const },
  ].find(({ name, index }) => name !== undefined && index === -1);
  if (absent !== undefined) {
    return { reason: absent.reason, problem: `expected a column named ${quoted(absent.name ?? "")}` };
  }
  const guildId = find("guildId");
  if (guildId === -1 && needsGuild(options)) {
    return { reason: "other_guild", problem: "expected a column of guilds, named guildId" };
  }
  const twice = [chatId, gameId].find(
    (index) => plainNames.filter((name) => name === plainNames[index]).length > 1,
  );
  if (twice !== undefined) {
    return { reason: "row", problem: `two columns are named ${quoted(names[twice] ?? "")}` };
  }
  const primary = find("primary");
  const others = new Set([chatId, gameId, time, guildId, primary]);
  const isState = (name: string, index: number) =>
    index === verifiedColumn || !(others.has(index) || ignored.has(plain(name)));
  const states = names.flatMap((name, index) =>
    isState(name, index) ? stateAt(name, index, index === verifiedColumn) : [],
  );
  const read = new Set([
    chatId,
    gameId,
    time,
    primary,
    ...(options.guildId === undefined ? [] : [guildId]),
    ...states.map(({ index }) => index),
  ]);
  const unread = names.filter((name, index) => name.trim() !== "" && !read.has(index));
  const isOwn = plainNames[chatId] === "chatid" && plainNames[gameId] === "gameid";
  const understood = new Set<string>([...known.time, ...ignored]);
  const unclear = unread.filter((name) => !understood.has(plain(name)) && isSuspicious(name));
  return { names, chatId, gameId, time, guildId, states, primary, isOwn, unread, unclear };
};

/** @param isNamed whether the user says that the column has states */
const stateAt = (name: string, index: number, isNamed: boolean): Columns["states"] => {
  const sense = stateSenseOf(name);
  if (sense === "over" || sense === "holds") return [{ index, sense }];
  return isNamed ? [{ index, sense: "holds" }] : [];
};

const lacking = (holds: string, chosen: string | undefined, examples: string): string =>
  chosen === undefined ? `a column of ${holds}, such as ${examples}` : `a column named ${quoted(chosen)}`;

export const reportedName = (name: string): string => shortened(name.trim(), 100);

/**
 * Adds the names of unread columns to `unreadColumns`. If the meaning of a column is unclear, returns an error that
 * asks the user to choose between reading and ignoring the column.
 */
export const reportUnread = (
  { unread, unclear }: Columns,
  line: number,
  { unreadColumns }: ReadOptions,
): UnreadableLinkFile | null => {
  for (const name of unread) {
    if (unreadColumns !== undefined && unreadColumns.size < maxUnread) unreadColumns.add(reportedName(name));
  }
  if (unclear.length === 0) return null;
  const names = unclear.map(quoted).join(", ");
  const reason =
    `${unclear.length === 1 ? "column" : "columns"} ${names} may say when or whether a ` +
    `link was verified, expected a choice to read or to ignore ${unclear.length === 1 ? "it" : "them"}`;
  return new UnreadableLinkFile({
    line,
    reason,
    said: { is: "columns", columns: unclear },
    unclearColumns: unclear,
  });
};

/** The error message for files of DiscordSRV, whose UUIDs are no game IDs. */
export const minecraft =
  "the file is one of DiscordSRV: it links Discord users to Minecraft UUIDs, expected the number of each player, " +
  "as examples/minecraft.py writes them";
