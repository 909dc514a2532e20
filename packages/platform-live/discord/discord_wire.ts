/**
 * Schemas for the parts of Discord's responses that are read.
 */
import { Schema } from "effect";

const nullish = Schema.optional(Schema.NullOr(Schema.String));

export const Guild = Schema.Struct({ id: Schema.String, name: nullish });

export const Role = Schema.Struct({ id: Schema.String, name: Schema.String });

export const User = Schema.Struct({
  id: Schema.String,
  username: Schema.String,
  global_name: nullish,
  avatar: nullish,
  banner: nullish,
});

export const Member = Schema.Struct({
  user: Schema.Struct({ id: Schema.String }),
  nick: nullish,
  joined_at: Schema.NullOr(Schema.DateTimeUtcFromString),
  roles: Schema.Array(Schema.String),
});

export const ListedMember = Schema.Struct({ user: Schema.Struct({ id: Schema.String }) });

/** Discord's error codes for "not found". */
const codes = {
  unknownGuild: 10_004,
  unknownMember: 10_007,
  unknownUser: 10_013,
  /** The guild exists, but the bot is not in it. */
  missingAccess: 50_001,
} as const;

/** The body of an error response with one of these codes. */
export const refusal = (...reasons: ReadonlyArray<keyof typeof codes>) =>
  Schema.Struct({ code: Schema.Literals(reasons.map((reason) => codes[reason])) });
