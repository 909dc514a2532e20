/** The routes of other link services, answered by the lookups of this service. */
import {
  type ApiKey,
  type ChatId,
  type GameId,
  type GuildId,
  LinkLookup,
  LinkNotFound,
  type PublicError,
} from "@accountlink/core";
import { type ChatProfile, type GameProfile, Profiles } from "@accountlink/core/platforms";
import { BloxlinkV3, BloxlinkV4, type Parameters, type Route, Rover, Rowifi } from "@accountlink/http-api";
import { Effect, type Schema } from "effect";
import type { SuccessOf } from "../envelopes/envelope.ts";
import type { BoundRoute, KeyedInput, Pipeline } from "../pipeline/pipeline.ts";

/**
 * Returns a function that binds a route to a handler, which returns the whole body of the response. The envelope makes
 * the response, because the limits that its headers tell may be counted while the handler runs.
 */
const bareRoutes =
  ({ keyed }: Pipeline) =>
  <P extends Parameters, S extends Schema.Top>(
    route: Route<P, S>,
    handler: (input: KeyedInput<P>) => Effect.Effect<S["Encoded"], PublicError>,
  ): BoundRoute =>
    keyed(route, (input) => Effect.map(handler(input), (data) => ({ data }) as SuccessOf<typeof data>));

type Bind = ReturnType<typeof bareRoutes>;

/** Converts a game user's ID to a number. Fails with `LinkNotFound` if the ID is not a safe integer. */
const exactNumber = (gameId: GameId): Effect.Effect<number, LinkNotFound> => {
  const number = Number(gameId);
  return Number.isSafeInteger(number) ? Effect.succeed(number) : Effect.fail(new LinkNotFound());
};

const bloxlinkV4Routes = (bare: Bind, lookup: LinkLookup["Service"]): ReadonlyArray<BoundRoute> => {
  const toRoblox = Effect.fnUntraced(function* (key: ApiKey, discordId: ChatId, guildId: GuildId | null) {
    const resolved = key.tier === "premium";
    const found = yield* lookup.byChat(key.scope, discordId, { guildId, resolved });
    const robloxID = found.gameId;
    if (!resolved) return { robloxID, resolved: {} };
    const roblox = robloxUser(found.resolved.game);
    if (guildId === null) return { robloxID, resolved: { roblox } };
    return { robloxID, resolved: { roblox, discord: discordMember(found.resolved.chat) } };
  });

  const toDiscord = Effect.fnUntraced(function* (key: ApiKey, robloxId: GameId, guildId: GuildId | null) {
    const resolved = key.tier === "premium" && guildId !== null;
    const found = yield* lookup.byGame(key.scope, robloxId, { guildId, resolved });
    const discordIDs = found.chatIds;
    if (!resolved) return { discordIDs, resolved: {} };
    const members = (found.resolved.chat ?? []).map(discordMember).filter((member) => member !== null);
    const discord = Object.fromEntries(members.map((member) => [member.user.id, member]));
    return { discordIDs, resolved: { discord } };
  });

  return [
    bare(BloxlinkV4.discordToRoblox, ({ key, values }) => toRoblox(key, values.discordId, values.guildId)),
    bare(BloxlinkV4.robloxToDiscord, ({ key, values }) => toDiscord(key, values.robloxId, values.guildId)),
    bare(BloxlinkV4.globalDiscordToRoblox, ({ key, values }) => toRoblox(key, values.discordId, null)),
    bare(BloxlinkV4.globalRobloxToDiscord, ({ key, values }) => toDiscord(key, values.robloxId, null)),
  ];
};

const bloxlinkV3Routes = (bare: Bind, lookup: LinkLookup["Service"]): ReadonlyArray<BoundRoute> => [
  bare(BloxlinkV3.discordToRoblox, ({ key, values: { discordId, guildId } }) =>
    Effect.map(lookup.byChat(key.scope, discordId, { guildId }), ({ gameId }) => ({
      success: true as const,
      user: { robloxId: gameId, primaryAccount: gameId },
    })),
  ),
  bare(BloxlinkV3.robloxToDiscord, ({ key, values: { robloxId, guildId } }) =>
    Effect.map(lookup.byGame(key.scope, robloxId, { guildId }), ({ chatIds }) => ({
      success: true as const,
      user: { discordIds: chatIds },
    })),
  ),
];

/**
 * Converts a game profile to the format of Bloxlink. Returns null if the profile is null, or if its user ID is not a
 * safe integer, because Bloxlink sends IDs as numbers.
 */
const robloxUser = (profile: GameProfile | null) => {
  if (profile === null || !Number.isSafeInteger(Number(profile.id))) return null;
  const { username, displayName, id, description, created, isBanned, hasVerifiedBadge, avatar } = profile;
  const { badges, groups } = profile;
  return {
    name: username,
    displayName,
    id: Number(id),
    description,
    created,
    isBanned,
    hasVerifiedBadge,
    profileLink: `https://www.roblox.com/users/${id}/profile`,
    avatar: avatar && {
      bustThumbnail: avatar.headshot,
      headshotThumbnail: avatar.headshot,
      fullBody: avatar.fullBody,
    },
    badges: badges?.map(({ name, imageUrl }) => ({ ImageUri: imageUrl, Name: name })) ?? null,
    groups: groups?.map(({ role, ...group }) => ({ group, role })) ?? null,
  };
};

/**
 * Converts a chat profile to a guild member in the format of Bloxlink. Returns null if the platform did not return the
 * membership.
 */
const discordMember = (profile: ChatProfile | null) => {
  if (profile === null || profile.guild === null) return null;
  const { id, username, displayName, guild } = profile;
  return {
    user: { id, username, global_name: displayName },
    nick: guild.nickname,
    roles: guild.roles.map((role) => role.id),
    joined_at: guild.joined,
  };
};

const roverRoutes = (
  bare: Bind,
  lookup: LinkLookup["Service"],
  profiles: Profiles["Service"],
): ReadonlyArray<BoundRoute> => [
  bare(
    Rover.discordToRoblox,
    Effect.fnUntraced(function* ({ key, values: { discordId, guildId } }) {
      const { gameId } = yield* lookup.byChat(key.scope, discordId, { guildId });
      const robloxId = yield* exactNumber(gameId);
      const profile = yield* profiles.game(gameId, []);
      return { robloxId, cachedUsername: profile?.username ?? "", discordId, guildId };
    }),
  ),
  bare(
    Rover.robloxToDiscord,
    Effect.fnUntraced(function* ({ key, values }) {
      const { guildId } = values;
      const { chatIds, gameId } = yield* lookup.byGame(key.scope, values.robloxId, { guildId });
      const robloxId = yield* exactNumber(gameId);
      const members = yield* profiles.chats(chatIds, guildId);
      const discordUsers = chatIds.map((chatId, index) => discordUser(chatId, members[index] ?? null));
      return { discordUsers, robloxId, guildId };
    }),
  ),
];

const discordUser = (id: ChatId, profile: ChatProfile | null) => ({
  user: { id, username: profile?.username ?? "" },
  nick: profile?.guild?.nickname ?? null,
  roles: profile?.guild?.roles.map((role) => role.id) ?? [],
});

const rowifiRoutes = (bare: Bind, lookup: LinkLookup["Service"]): ReadonlyArray<BoundRoute> => {
  const consent = { reverse_search_consent: true } as const;

  const member = Effect.fnUntraced(function* ({
    key,
    values,
  }: KeyedInput<typeof Rowifi.memberV3.parameters>) {
    const { discordId, guildId } = values;
    const { gameId } = yield* lookup.byChat(key.scope, discordId, { guildId });
    return { discord_id: discordId, guild_id: guildId, roblox_id: yield* exactNumber(gameId) };
  });

  const members = ({ key, values }: KeyedInput<typeof Rowifi.membersOfRobloxV3.parameters>) =>
    Effect.map(lookup.byGame(key.scope, values.robloxId, { guildId: values.guildId }), ({ chatIds }) =>
      chatIds.map((chatId) => ({ discord_id: chatId })),
    );

  return [
    bare(Rowifi.memberV3, member),
    bare(Rowifi.membersOfRobloxV3, members),
    bare(Rowifi.memberV2, (input) => Effect.map(member(input), (found) => ({ ...found, ...consent }))),
    bare(Rowifi.membersOfRobloxV2, (input) =>
      Effect.map(members(input), (found) => found.map((each) => ({ ...each, ...consent }))),
    ),
  ];
};

export const compatRoutes = Effect.fnUntraced(function* (pipeline: Pipeline) {
  const bare = bareRoutes(pipeline);
  const lookup = yield* LinkLookup;
  return [
    ...bloxlinkV4Routes(bare, lookup),
    ...bloxlinkV3Routes(bare, lookup),
    ...roverRoutes(bare, lookup, yield* Profiles),
    ...rowifiRoutes(bare, lookup),
  ];
});
