/** Finds the guilds that the bot is in, and the rights of their members. */
import type { ChatId, ChatPlatform, GuildId } from "@accountlink/core";
import { Effect, Option, Schema } from "effect";
import { finderOn, type ResilientClient } from "../../http/mod.ts";
import { canManage, isSnowflake } from "./discord_values.ts";
import { GovernedGuild, Member, OwnGuild, refusal } from "./discord_wire.ts";

/** Looks up a member. Both IDs must be snowflakes. */
export const memberOn = (client: ResilientClient, operation: string) => (guildId: GuildId, chatId: ChatId) =>
  finderOn(client)(
    operation,
    `/guilds/${guildId}/members/${chatId}`,
    Member,
    refusal("unknownGuild", "unknownMember", "unknownUser", "missingAccess"),
    ({ user }) => user.id === chatId,
  );

/** How many guilds Discord lists per request, in order of ID. */
const guildPageSize = 200;

/**
 * Reads pages of the list of the bot's guilds. It does not look up each guild, since looking up a guild that the bot is
 * not in is an invalid request, and Discord blocks IP addresses that send many invalid requests. The first page starts
 * at the lowest requested guild ID; each further page starts at the lowest requested ID after the previous page.
 */
export const joinedGuildsOn = (client: ResilientClient): ChatPlatform["Service"]["joinedGuilds"] =>
  Effect.fnUntraced(function* (guildIds) {
    const joined = new Set<GuildId>();
    let left = guildIds.filter(isSnowflake).toSorted(bySnowflake);
    while (left[0] !== undefined) {
      const url = `/users/@me/guilds?limit=${guildPageSize}&after=${BigInt(left[0]) - 1n}`;
      const page = yield* finderOn(client)("ChatPlatform.joinedGuilds", url, Schema.Array(OwnGuild));
      const listed = Option.getOrThrow(page).map(({ id }) => id);
      for (const id of left) if (listed.includes(id)) joined.add(id);
      const last = listed.length < guildPageSize ? null : BigInt(listed.at(-1) ?? 0);
      left = last === null ? [] : left.filter((id) => BigInt(id) > last);
    }
    return joined;
  });

const bySnowflake = (one: string, other: string): number => (BigInt(one) < BigInt(other) ? -1 : 1);

/**
 * Finds out whether the member owns the guild, or has a role that may manage the guild. Every member has the role
 * `@everyone`.
 */
export const isManagerOn = (client: ResilientClient): ChatPlatform["Service"]["isManager"] =>
  Effect.fnUntraced(function* (guildId, chatId) {
    if (!isSnowflake(guildId) || !isSnowflake(chatId)) return false;
    const operation = "ChatPlatform.isManager";
    const guild = yield* finderOn(client)(
      operation,
      `/guilds/${guildId}`,
      GovernedGuild,
      refusal("unknownGuild", "missingAccess"),
      ({ id }) => id === guildId,
    );
    if (Option.isNone(guild)) return false;
    const member = yield* memberOn(client, operation)(guildId, chatId);
    if (Option.isNone(member)) return false;
    const { owner_id, roles } = guild.value;
    const held = new Set([guildId, ...member.value.roles]);
    return owner_id === chatId || roles.some(({ id, permissions }) => held.has(id) && canManage(permissions));
  });
