/** The parts of Discord's responses that this service reads, with IDs, times and image URLs in Discord's format. */
import { ChatId, GuildId } from "@accountlink/core";
import type { PowerfulPermission } from "@accountlink/core/platforms";
import { Order, Schema, SchemaGetter } from "effect";
import { countedEntries, entriesOf, nullish, unlessOdd } from "../../http/mod.ts";

const nullishText = nullish(Schema.String);

const int64Max = 2n ** 63n - 1n;

/** Whether the text is a Discord ID. Discord answers a request for anything else with an error. */
export const isSnowflake = (text: string): boolean =>
  /^[1-9]\d{0,18}$/.test(text) && BigInt(text) <= int64Max;

/** An ID in a list. IDs are compared as numbers, so that another text would end a list early. */
const Snowflake = Schema.String.check(Schema.makeFilter(isSnowflake));

export const Identified = Schema.Struct({ id: Schema.String });

const Listed = Schema.Struct({ id: Snowflake });

export const Guild = Schema.Struct({ id: Schema.String, name: nullishText });

/** A bit set as a decimal text, since it may have more bits than a JavaScript number can hold exactly. */
const Permissions = Schema.Union([Schema.String, Schema.Int]).pipe(
  Schema.decodeTo(Schema.String.check(Schema.isPattern(/^\d{1,20}$/)), {
    decode: SchemaGetter.transform(String),
    encode: SchemaGetter.passthrough(),
  }),
);

export const Roles = entriesOf(Schema.Struct({ id: Snowflake, name: Schema.String }));

const RankedRole = Schema.Struct({
  id: Snowflake,
  name: Schema.String,
  permissions: Permissions,
  position: Schema.Int,
  /** Whether the role belongs to an integration, such as a bot. Only the integration can give this role. */
  managed: nullish(Schema.Boolean),
});

/** A guild with everything that determines the rights of its members. */
export const RoledGuild = Schema.Struct({
  id: Schema.String,
  approximate_member_count: nullish(Schema.Int),
  owner_id: Schema.String,
  preferred_locale: nullishText,
  roles: entriesOf(RankedRole),
});

/** `RoledGuild`, with the number of roles that cannot be read. */
export const CountedGuild = Schema.Struct({ ...RoledGuild.fields, roles: countedEntries(RankedRole) });

/** A channel of a guild. A category is a channel as well. */
export const Channel = Schema.Struct({
  id: Snowflake,
  type: Schema.Int,
  name: Schema.String,
  position: Schema.Int,
  parent_id: nullishText,
  permission_overwrites: nullish(
    // Of a part of them, nothing about the channel would follow.
    Schema.Array(
      // The ID of a role, of a member, or of the guild for everybody.
      Schema.Struct({ id: Schema.String, allow: Permissions, deny: Permissions }),
    ),
  ),
});

export const Channels = entriesOf(Channel);

/** A guild in the guild list of a user or of the bot. */
export const OwnGuild = Schema.Struct({
  id: GuildId.check(Schema.makeFilter(isSnowflake)),
  name: nullishText,
  owner: nullish(Schema.Boolean),
  permissions: nullish(Permissions),
});

export const OwnGuilds = entriesOf(OwnGuild);

/** An account on another service that a user connected. Lists may have other entries. */
export const Connection = Schema.Struct({
  id: Schema.String,
  /** The service, such as `roblox`. */
  type: Schema.String,
  verified: Schema.Boolean,
  revoked: nullish(Schema.Boolean),
});

export const Connections = entriesOf(Connection);

export const User = Schema.Struct({
  id: Schema.String,
  username: Schema.String,
  global_name: nullishText,
  avatar: nullishText,
  banner: nullishText,
});

export const Member = Schema.Struct({
  user: Identified,
  nick: nullishText,
  joined_at: unlessOdd(Schema.DateTimeUtcFromString),
  roles: entriesOf(Schema.String),
});

export const RoledMember = Schema.Struct({
  user: Schema.Struct({
    id: ChatId.check(Schema.makeFilter(isSnowflake)),
    username: Schema.String,
    global_name: nullishText,
    bot: nullish(Schema.Boolean),
  }),
  joined_at: nullish(Schema.String),
  /** Whether the member has not passed the guild's screening. */
  pending: nullish(Schema.Boolean),
  nick: nullishText,
  // Of a part of them, a change could follow that the member has already.
  roles: Schema.Array(Schema.String),
});

export const RoledMembers = countedEntries(RoledMember);

/** The application that the bot belongs to. */
export const Application = Schema.Struct({
  id: Schema.String,
  verify_key: Schema.String.check(Schema.isPattern(/^[\da-f]{64}$/i)),
  interactions_endpoint_url: nullishText,
  /** A bit set of what the application may do. */
  flags: Schema.optional(Schema.Int),
});

/** Members whose names do not matter. */
export const ListedMembers = countedEntries(Schema.Struct({ user: Listed }));

export const NamedMembers = entriesOf(
  Schema.Struct({ user: Schema.Struct({ id: Snowflake, username: Schema.String }) }),
);

/** IDs, times and image URLs in Discord's format. */

/** The epoch of snowflakes: the first second of 2015, in milliseconds since 1970. */
const epoch = 1_420_070_400_000n;

/** Orders IDs by their time. */
export const bySnowflake: Order.Order<string> = Order.mapInput(Order.BigInt, BigInt);

/** The creation time of an ID, which is the first part of a snowflake. */
export const createdAt = (snowflake: string): string =>
  new Date(Number((BigInt(snowflake) >> 22n) + epoch)).toISOString();

/** Bits of permissions. An administrator has every permission. */
export const administrator = 0x8n;
const powerful: Readonly<Record<PowerfulPermission, bigint>> = {
  administrator,
  manage_server: 1n << 5n,
  manage_roles: 1n << 28n,
  manage_channels: 1n << 4n,
  manage_webhooks: 1n << 29n,
  kick: 1n << 1n,
  ban: 1n << 2n,
  moderate_members: 1n << 40n,
  mention_everyone: 1n << 17n,
};

/** Whether permissions, as a decimal bit set, include this one. */
export const includesPermission = (permissions: string, name: PowerfulPermission): boolean =>
  (BigInt(permissions) & powerful[name]) !== 0n;

/** Whether permissions include the rights to see a channel and to post in it. */
export const includesPosting = (permissions: bigint): boolean => (permissions & posting) === posting;

/** Whether permissions include the right to see a channel. */
export const includesViewing = (permissions: bigint): boolean => (permissions & viewing) !== 0n;

const viewing = 1n << 10n;
const posting = viewing | (1n << 11n);

const bits = { guild: 0x20n, nicknames: 1n << 27n, roles: 1n << 28n };

/** Whether permissions, as a decimal bit set, include the right to manage the guild, its nicknames or its roles. */
export const canManage = (permissions: string, what: keyof typeof bits = "guild"): boolean =>
  (BigInt(permissions) & (administrator | bits[what])) !== 0n;

/** Image sizes in pixels; Discord accepts powers of two. */
const sizes = { avatars: 256, banners: 512 };

/** The URL of a user's image. The hash of an animated image begins with `a_`. */
export const imageUrl = (kind: keyof typeof sizes, userId: string, hash: string | null): string | null => {
  if (hash === null) return null;
  const extension = hash.startsWith("a_") ? "gif" : "png";
  return `https://cdn.discordapp.com/${kind}/${userId}/${hash}.${extension}?size=${sizes[kind]}`;
};
