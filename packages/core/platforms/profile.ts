/** Records of users and guilds. Unavailable fields are null. */
import { Schema } from "effect";
import { GuildId } from "../ids.ts";

const Text = Schema.NullOr(Schema.String);
const Flag = Schema.NullOr(Schema.Boolean);

const IsoTime = Schema.NullOr(Schema.String).annotate({ description: "ISO 8601 timestamp" });
const Url = Schema.NullOr(Schema.String).annotate({ description: "URL" });

/** @internal */
export const GameBadge = Schema.Struct({
  id: Schema.Int,
  name: Text,
  description: Text,
  imageUrl: Url,
}).annotate({ identifier: "GameBadge" });

/** A group of the game platform, with the user's role. A user with several roles in a group has it once for each. @internal */
export const GameGroup = Schema.Struct({
  id: Schema.Int,
  name: Text,
  memberCount: Schema.NullOr(Schema.Int),
  hasVerifiedBadge: Flag,
  role: Schema.NullOr(Schema.Struct({ id: Schema.Int, name: Text, rank: Schema.NullOr(Schema.Int) })),
}).annotate({ identifier: "GameGroup" });
export type GameGroup = typeof GameGroup.Type;

/** @internal */
export const GameProfile = Schema.Struct({
  username: Text,
  displayName: Text,
  id: Schema.String,
  description: Text,
  created: IsoTime,
  isBanned: Flag,
  hasVerifiedBadge: Flag,
  avatar: Schema.NullOr(Schema.Struct({ headshot: Url, fullBody: Url })),
  badges: Schema.NullOr(Schema.Array(GameBadge)),
  groups: Schema.NullOr(Schema.Array(GameGroup)),
}).annotate({ identifier: "GameProfile" });
export type GameProfile = typeof GameProfile.Type;

export const ChatUser = Schema.Struct({
  id: Schema.String,
  username: Text,
  displayName: Text,
  avatar: Url,
  banner: Url,
  created: IsoTime,
});
export type ChatUser = typeof ChatUser.Type;

/** A guild that the bot is in. */
export const Guild = Schema.Struct({ id: Schema.String, name: Text });
export type Guild = typeof Guild.Type;

/** A guild of a chat user, as the platform lists it when the user signs in. */
export const UserGuild = Schema.Struct({ id: GuildId, name: Text, manager: Schema.Boolean });
export type UserGuild = typeof UserGuild.Type;

/** One of the user's guilds, from which the user chooses the guild of a key. @internal */
export interface OwnGuild {
  readonly guildId: GuildId;
  readonly name: string | null;
  readonly bot: boolean;
  /** Whether the user could manage the guild when they signed in. */
  readonly manager: boolean;
}

export const GuildMember = Schema.Struct({
  nickname: Text,
  joined: IsoTime,
  roles: Schema.Array(Schema.Struct({ id: Schema.String, name: Text })),
}).annotate({ identifier: "GuildMember" });
export type GuildMember = typeof GuildMember.Type;

/** @internal */
export const ChatProfile = Schema.Struct({
  ...ChatUser.fields,
  guild: Schema.NullOr(GuildMember),
}).annotate({ identifier: "ChatProfile" });
/** The profile of a chat user, with the membership in the requested guild. */
export type ChatProfile = typeof ChatProfile.Type;
