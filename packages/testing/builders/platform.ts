/** Users and guilds of the platforms, with defaults for what a test does not name. */
import { ChatId, GameId, GuildId } from "@accountlink/core";
import type { MemberFixture, PlatformFixture } from "@accountlink/core/fixture";

type GuildFixture = PlatformFixture["guilds"][number];
type ChatUserFixture = PlatformFixture["chatUsers"][number];
type GameUserFixture = PlatformFixture["gameUsers"][number];

/**
 * A user of the chat platform. Throws for a text that is not a chat ID, as all of these do.
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

/** A user of the game platform, in no group and not banned. */
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

/** A member of a guild, without a role. */
export const aMember = (chatId: string, parts: Partial<MemberFixture> = {}): MemberFixture => ({
  chatId: ChatId.make(chatId),
  manager: false,
  nickname: null,
  joined: null,
  roles: [],
  ...parts,
});

/**
 * A guild that the bot is in.
 *
 * @param members their chat IDs, or what `aMember` made
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
