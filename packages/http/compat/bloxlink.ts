import type { ApiKey, ChatId, GameId, GuildId, LinkLookup } from "@accountlink/core";
import type { ChatProfile, GameProfile } from "@accountlink/core/platforms";
import { BloxlinkV3, BloxlinkV4 } from "@accountlink/http-api";
import { Effect } from "effect";
import type { BoundRoute, Pipeline } from "../pipeline/pipeline.ts";
import { bareRoutes } from "./bare_routes.ts";

export const bloxlinkV4Routes = (
  pipeline: Pipeline,
  lookup: LinkLookup["Service"],
): ReadonlyArray<BoundRoute> => {
  const bare = bareRoutes(pipeline, BloxlinkV4.bloxlinkV4);

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

export const bloxlinkV3Routes = (
  pipeline: Pipeline,
  lookup: LinkLookup["Service"],
): ReadonlyArray<BoundRoute> => {
  const bare = bareRoutes(pipeline, BloxlinkV3.bloxlinkV3);
  return [
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
};

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
