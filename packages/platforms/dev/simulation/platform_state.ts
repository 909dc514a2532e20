/** The state of the simulated platforms. It starts as the fixture, and the control routes change it. */
import { FixtureGuild, type PlatformFixture } from "@accountlink/core/fixture";
import type { ChatUser, GuildJoin } from "@accountlink/core/platforms";

export type PlatformState = ReturnType<typeof makePlatformState>;

const byId = <A extends { readonly id: string }>(entries: ReadonlyArray<A>): ReadonlyMap<string, A> =>
  new Map(entries.map((entry) => [entry.id, entry]));

export const makePlatformState = ({ guilds, chatUsers, gameUsers, gameGroups = [] }: PlatformFixture) => ({
  /** The users who joined a guild, oldest first. */
  joins: new Array<GuildJoin>(),
  guilds: new Map<string, FixtureGuild>(guilds.map((guild) => [guild.id, new FixtureGuild(guild)])),
  chatUsers: byId<ChatUser>(chatUsers),
  gameUsers: byId(gameUsers),
  gameGroups,
});

/** Finds a user by name, ignoring case. */
export const userOfName = <A extends { readonly username: string | null }>(
  users: ReadonlyMap<string, A>,
  username: string,
): A | undefined =>
  [...users.values()].find((user) => user.username?.toLowerCase() === username.toLowerCase());
