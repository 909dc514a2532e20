/** Schemas for the parts of Roblox's responses that this service reads. */
import { GameBadge } from "@accountlink/core/platforms";
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

/** The body of a 404 for a user that does not exist. */
export const UnknownUser = Schema.Struct({
  errors: Schema.NonEmptyArray(Schema.Struct({ code: Schema.Literal(3) })),
});

const listOf = <S extends Schema.Top>(entry: S) => Schema.Struct({ data: Schema.Array(entry) });

export const Thumbnails = listOf(
  Schema.Struct({
    targetId: Schema.Int,
    /** Such as `Completed`, `Pending` or `Blocked`. Only a thumbnail in the state `Completed` has an image. */
    state: Schema.String,
    imageUrl: nullish(Schema.String),
  }),
);

/** The response of a lookup of users by name. */
export const FoundUsers = listOf(Schema.Struct({ id: Schema.Int, name: Schema.String }));

/** The response of a lookup of groups by ID. */
export const FoundGroups = listOf(
  Schema.Struct({ id: Schema.Int, name: Schema.String, memberCount: nullish(Schema.Int) }),
);

export const GroupRole = Schema.Struct({
  id: Schema.Int,
  name: nullish(Schema.String),
  rank: nullish(Schema.Int),
});

export const GroupMembers = Schema.Struct({
  data: Schema.Array(Schema.Struct({ user: Schema.Struct({ userId: Schema.Int }), role: GroupRole })),
  nextPageCursor: nullish(Schema.String),
});

export const GroupRoles = Schema.Struct({
  roles: Schema.Array(Schema.Struct({ rank: Schema.Int, name: Schema.String })),
});

/** An item: a game pass and an asset have a `Name`, a badge has a `name`. */
export const Item = Schema.Union([
  Schema.Struct({ Name: Schema.String }),
  Schema.Struct({ name: Schema.String }),
]);

/** The body of a 403 for an item in a private inventory, and of a 404 for an item that does not exist. */
export const NoItem = Schema.Struct({
  errors: Schema.NonEmptyArray(Schema.Struct({ code: Schema.Int })),
});

export const Memberships = listOf(
  Schema.Struct({
    group: Schema.Struct({
      id: Schema.Int,
      name: nullish(Schema.String),
      memberCount: nullish(Schema.Int),
      hasVerifiedBadge: nullish(Schema.Boolean),
    }),
    role: GroupRole,
  }),
);

/**
 * The badges that Roblox itself awards. There are about twenty, so this list is short; a user can have thousands of
 * badges from games.
 */
export const Badges = Schema.Array(GameBadge);
