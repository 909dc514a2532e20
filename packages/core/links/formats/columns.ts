/** Which columns of a file hold what: other systems have many names for the same. */
import { type LeftOutReason, quoted, type ReadOptions } from "./link_format.ts";

/** The place of each column among the names of a file; -1 without one. */
export interface Columns {
  readonly chatId: number;
  readonly gameId: number;
  readonly time: number;
  readonly guildId: number;
  readonly verified: number;
  readonly status: number;
  /** Whether the IDs have the names that exports of this service have, and so any form of IDs. */
  readonly isOwn: boolean;
}

/** Known names as `plain` writes them, the best first. */
const known = {
  chatId: ["chatid", "discordid", "discorduserid", "discord", "userid", "_id"],
  gameId: ["gameid", "robloxid", "robloxuserid", "roblox", "defaultaccountid", "primaryaccount"],
  time: ["lastverifiedat", "verifiedat"],
  guildId: ["guildid"],
  verified: ["verified"],
  status: ["status"],
} as const;

/** In lower case, without what joins words. `_id` is another name than `id`, which often counts rows. */
const plain = (name: string): string => {
  const lower = name.trim().toLowerCase();
  return lower === "_id" ? lower : lower.replaceAll(/[\s_-]/g, "");
};

/** Why a file or a row has no links. */
export interface ColumnProblem {
  readonly reason: LeftOutReason;
  readonly problem: string;
}

/** The columns of these names, or what is wrong with them. */
export const columnsOf = (names: ReadonlyArray<string>, options: ReadOptions): Columns | ColumnProblem => {
  const plainNames = names.map(plain);
  const find = (role: keyof typeof known) => {
    const name = known[role].find((each) => plainNames.includes(each));
    return name === undefined ? -1 : plainNames.indexOf(name);
  };
  const named = (chosen: string | undefined, role: keyof typeof known) => {
    if (chosen === undefined) return find(role);
    const exact = names.findIndex((name) => name.trim() === chosen.trim());
    return exact === -1 ? plainNames.indexOf(plain(chosen)) : exact;
  };
  const chatId = named(options.chatColumn, "chatId");
  const gameId = named(options.gameColumn, "gameId");
  const missing = [
    ...(chatId === -1 ? [lacking("chat", options.chatColumn, "chatId, discord_id or user_id")] : []),
    ...(gameId === -1 ? [lacking("game", options.gameColumn, "gameId or roblox_id")] : []),
  ];
  if (missing.length > 0) {
    const isMinecraft = plainNames.includes("uuid") || plainNames.includes("minecraftuuid");
    const reason = chatId === -1 ? "no_chat_id" : "no_game_id";
    return { reason, problem: isMinecraft ? minecraft : `expected ${missing.join(", and ")}` };
  }
  const guildId = find("guildId");
  if (guildId === -1 && options.guildId !== undefined) {
    return { reason: "other_guild", problem: "expected a column of guilds, named guildId" };
  }
  const twice = [chatId, gameId].find(
    (index) =>
      plainNames.indexOf(plainNames[index] ?? "") !== plainNames.lastIndexOf(plainNames[index] ?? ""),
  );
  if (twice !== undefined) {
    return { reason: "row", problem: `two columns are named ${quoted(names[twice] ?? "")}` };
  }
  const isOwn = plainNames[chatId] === "chatid" && plainNames[gameId] === "gameid";
  return {
    chatId,
    gameId,
    time: find("time"),
    guildId,
    verified: find("verified"),
    status: find("status"),
    isOwn,
  };
};

const lacking = (platform: string, chosen: string | undefined, examples: string): string =>
  chosen === undefined
    ? `a column of ${platform} IDs, such as ${examples}`
    : `a column named ${quoted(chosen)}`;

/** Why a file of DiscordSRV has nothing to import. */
export const minecraft =
  "the file is one of DiscordSRV: it links Discord users to Minecraft UUIDs, which are no game IDs here";
