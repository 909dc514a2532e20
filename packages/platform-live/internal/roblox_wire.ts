/**
 * The parts of Roblox's answers that are read.
 */
import { GameBadge } from "@accountlink/core";
import { Schema } from "effect";

const nullish = <S extends Schema.Top>(schema: S) => Schema.optional(Schema.NullOr(schema));

export const User = Schema.Struct({
  id: Schema.Int,
  name: Schema.String,
  displayName: nullish(Schema.String),
  description: nullish(Schema.String),
  created: nullish(Schema.DateTimeUtcFromString),
  isBanned: nullish(Schema.Boolean),
  hasVerifiedBadge: nullish(Schema.Boolean),
});

/** The body of a 404 for a user ID that is nobody's. */
export const UnknownUser = Schema.Struct({
  errors: Schema.NonEmptyArray(Schema.Struct({ code: Schema.Literal(3) })),
});

const listOf = <S extends Schema.Top>(entry: S) => Schema.Struct({ data: Schema.Array(entry) });

export const Thumbnails = listOf(
  Schema.Struct({
    targetId: Schema.Int,
    /** `Completed` has an image. `Pending` will have one, `Blocked` and others have none to show. */
    state: Schema.String,
    imageUrl: nullish(Schema.String),
  }),
);

export const Memberships = listOf(
  Schema.Struct({
    group: Schema.Struct({
      id: Schema.Int,
      name: nullish(Schema.String),
      memberCount: nullish(Schema.Int),
      hasVerifiedBadge: nullish(Schema.Boolean),
    }),
    role: Schema.Struct({ id: Schema.Int, name: nullish(Schema.String), rank: nullish(Schema.Int) }),
  }),
);

/** The badges that Roblox itself gives; there are about twenty of them. Those of games run to thousands for one user. */
export const Badges = Schema.Array(GameBadge);
