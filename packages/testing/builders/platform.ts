/** Builds platform users and guilds, with defaults for fields that a test does not set. */
import { ChatId, GameId, GuildId } from "@accountlink/core";
import type { MemberFixture, PlatformFixture } from "@accountlink/core/fixture";

type GuildFixture = PlatformFixture["guilds"][number];
type ChatUserFixture = PlatformFixture["chatUsers"][number];
type GameUserFixture = PlatformFixture["gameUsers"][number];

/**
 * Creates a user of the chat platform. Throws if the ID is invalid, as all builders here do.
 *
 * @example
 * ```ts
 * aChatUser("100001", { username: "ada" }).username; // "ada"
 * aChatUser("100001").username; // "chat_100001"
 * ```
 */
export const aChatUser = (id: string, parts: Partial<ChatUserFixture> = {}): ChatUserFixture => ({
  id: ChatId.make(id),
  username: `chat_${id}`,
  displayName: null,
  avatar: null,
  banner: null,
  created: null,
  ...parts,
});

/** Creates a user of the game platform, in no group and not banned. */
export const aGameUser = (id: string, parts: Partial<GameUserFixture> = {}): GameUserFixture => ({
  id: GameId.make(id),
  username: `game_${id}`,
  displayName: null,
  description: null,
  created: null,
  isBanned: false,
  hasVerifiedBadge: false,
  avatar: null,
  badges: [],
  groups: [],
  ...parts,
});

/** Creates a member of a guild, without a role. */
export const aMember = (chatId: string, parts: Partial<MemberFixture> = {}): MemberFixture => ({
  chatId: ChatId.make(chatId),
  manager: false,
  nickname: null,
  joined: null,
  roles: [],
  ...parts,
});

/**
 * Creates a guild that has the bot.
 *
 * @param members chat IDs, or results of `aMember`
 *
 * @example
 * ```ts
 * const guild = aGuild("700000000000000001", ["100001", aMember("100002", { manager: true })]);
 * guild.members.map(({ manager }) => manager); // [false, true]
 * ```
 */
export const aGuild = (
  id: string,
  members: ReadonlyArray<string | MemberFixture> = [],
  parts: Partial<Omit<GuildFixture, "id" | "members">> = {},
): GuildFixture => ({
  id: GuildId.make(id),
  name: `Guild ${id}`,
  bot: true,
  members: members.map((member) => (typeof member === "string" ? aMember(member) : member)),
  ...parts,
});
