/** Response bodies, shared by server and adapter. Guilds, chat users, game profiles and groups use core's schemas. */
import { ChatId, GameId, GuildId } from "@accountlink/core";
import { GuildMember } from "@accountlink/core/platforms";
import { Schema, Struct } from "effect";

export const Member = Schema.Struct({
  chatId: ChatId,
  manager: Schema.Boolean,
  ...GuildMember.fields,
  username: Schema.NullOr(Schema.String),
  displayName: Schema.NullOr(Schema.String),
  pending: Schema.optionalKey(Schema.Boolean),
});

export const Members = Schema.Struct({ members: Schema.Array(Member) });

export const MembersPage = Schema.Struct({ ...Members.fields, next: Schema.NullOr(ChatId) });

export const Roles = Schema.Struct({
  roles: Schema.Array(Schema.Struct({ id: Schema.String, name: Schema.String, assignable: Schema.Boolean })),
  memberCount: Schema.Int,
});

export const Channels = Schema.Struct({
  channels: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      name: Schema.String,
      mayPost: Schema.Boolean,
      isPublic: Schema.Boolean,
    }),
  ),
  locale: Schema.NullOr(Schema.String),
});

/** The ID of a message or role that was made. */
export const Made = Schema.Struct({ id: Schema.String });

export const NewRole = Schema.Struct({ name: Schema.String });

export const Nameable = Schema.Struct({ roleIds: Schema.Array(Schema.String) });

export const MemberChange = Schema.Struct({ nickname: Schema.NullOr(Schema.String) });

/** The response body of `GET /chat/api/joins`: the joins after a position, and the position of the newest join. */
export const Joins = Schema.Struct({
  joins: Schema.Array(Schema.Struct({ guildId: GuildId, chatId: ChatId })),
  position: Schema.Int,
});

/** The scope of a sign-in that lists the connections of the chat user. */
export const connectionsScope = "connections";

export const Connections = Schema.Struct({
  connections: Schema.Array(Schema.Struct({ gameId: GameId, verified: Schema.Boolean })),
});

export const Owned = Schema.Struct({ owned: Schema.Boolean });

export const Application = Schema.Struct({ id: Schema.String, publicKey: Schema.String });

const Component = Schema.Struct({
  label: Schema.String,
  url: Schema.optional(Schema.String),
  custom_id: Schema.optional(Schema.String),
});

/** A message in the form of the chat platform's API. */
export const AnswerMessage = Schema.Struct({
  content: Schema.String,
  components: Schema.optional(Schema.Array(Schema.Struct({ components: Schema.Array(Component) }))),
  flags: Schema.optional(Schema.Int),
});
/** A message with the nonce of a message that the bot posted in the last minutes replaces it. */
export const NewMessage = Schema.Struct({
  ...AnswerMessage.fields,
  nonce: Schema.optional(Schema.String),
});

export type AnswerMessage = typeof AnswerMessage.Type;

export const refusals = {
  unknown_guild: 404,
  unknown_member: 404,
  unknown_user: 404,
  unknown_group: 404,
  unknown_item: 404,
  unknown_message: 404,
  channel_closed: 403,
  takes_none: 403,
  bot_refused: 403,
  message_refused: 400,
  role_missing: 404,
  role_above_bot: 403,
  no_permission: 403,
  member_above_bot: 403,
  nickname_refused: 400,
  role_refused: 400,
  members_hidden: 403,
  no_item: 400,
  invalid_request: 400,
  unauthorized: 401,
} as const;
export type RefusalCode = keyof typeof refusals | "unknown_route";

/** The body of a refusal. Not of an unknown route, which means that the server is not a dev platform. */
export const Refusal = Schema.Struct({ code: Schema.Literals(Struct.keys(refusals)) });
