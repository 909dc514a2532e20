/** The state of the simulated platforms. It starts as the fixture, and the control routes change it. */
import { FixtureGuild, type PlatformFixture } from "@accountlink/core/fixture";
import type { ChatUser, GuildJoin } from "@accountlink/core/platforms";

export interface PlatformState {
  /** The users who joined a guild, oldest first. */
  readonly joins: Array<GuildJoin>;
  readonly guilds: ReadonlyMap<string, FixtureGuild>;
  readonly chatUsers: ReadonlyMap<string, ChatUser>;
  readonly gameUsers: ReadonlyMap<string, PlatformFixture["gameUsers"][number]>;
  readonly gameGroups: NonNullable<PlatformFixture["gameGroups"]>;
}

const byId = <A extends { readonly id: string }>(entries: ReadonlyArray<A>): Map<string, A> =>
  new Map(entries.map((entry) => [entry.id, entry]));

export const makePlatformState = ({
  guilds,
  chatUsers,
  gameUsers,
  gameGroups = [],
}: PlatformFixture): PlatformState => ({
  joins: [],
  guilds: new Map(guilds.map((guild) => [guild.id, new FixtureGuild(guild)])),
  chatUsers: byId(chatUsers),
  gameUsers: byId(gameUsers),
  gameGroups,
});

/** Finds a user by name, ignoring case. */
export const userOfName = <A extends { readonly username: string | null }>(
  users: ReadonlyMap<string, A>,
  username: string,
): A | undefined =>
  [...users.values()].find((user) => user.username?.toLowerCase() === username.toLowerCase());
