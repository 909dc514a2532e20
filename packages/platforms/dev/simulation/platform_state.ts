/** The state of the simulated platforms. It starts as the fixture, and the control routes change it. */
import type { MemberFixture, PlatformFixture } from "@accountlink/core/fixture";
import type { ChatUser, GameProfile, Guild } from "@accountlink/core/platforms";

export interface PlatformState {
  readonly guilds: Map<string, GuildState>;
  readonly chatUsers: ReadonlyMap<string, ChatUser>;
  readonly gameUsers: ReadonlyMap<string, GameProfile>;
}

export interface GuildState extends Guild {
  hasBot: boolean;
  readonly members: Map<string, MemberFixture>;
}

const byId = <A extends { readonly id: string }>(entries: ReadonlyArray<A>): Map<string, A> =>
  new Map(entries.map((entry) => [entry.id, entry]));

export const makePlatformState = ({ guilds, chatUsers, gameUsers }: PlatformFixture): PlatformState => ({
  guilds: new Map(
    guilds.map(({ id, name, bot, members }) => [
      id,
      { id, name, hasBot: bot, members: new Map(members.map((member) => [member.chatId, member])) },
    ]),
  ),
  chatUsers: byId(chatUsers),
  gameUsers: byId(gameUsers),
});

/** Finds a user by name, ignoring case. */
export const userOfName = <A extends { readonly username: string | null }>(
  users: ReadonlyMap<string, A>,
  username: string,
): A | undefined =>
  [...users.values()].find((user) => user.username?.toLowerCase() === username.toLowerCase());
