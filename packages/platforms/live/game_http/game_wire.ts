/** What a game of one's own answers. Fields that are not named here are passed over. */
import { GameId } from "@accountlink/core";
import {
  type GameFeatures,
  type GameGroup,
  type GameProfile,
  ItemKind,
  isUsername,
} from "@accountlink/core/platforms";
import { Schema, SchemaGetter } from "effect";
import { entriesOf, nullish } from "../../http/mod.ts";

/** An ID, as text or as a number. */
const idAs = <S extends Schema.Codec<string, string>>(id: S) =>
  Schema.Union([Schema.String, Schema.Int]).pipe(
    Schema.decodeTo(id, { decode: SchemaGetter.transform(String), encode: SchemaGetter.transform(String) }),
  );

const Id = idAs(Schema.String.check(Schema.isPattern(/^\d{1,32}$/u)));

const Rank = Schema.Int;

/** A date and a time of ISO 8601 with a zone. */
const withZone = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/iu;

const Time = Schema.String.check(
  Schema.makeFilter((text) => withZone.test(text) && !Number.isNaN(Date.parse(text)), {
    expected: "a time of ISO 8601 with a zone",
  }),
);

/** No account is older. Programs that know no time write an earlier one, such as the year 1. */
const earliest = Date.UTC(1990);

export const User = Schema.Struct({
  id: idAs(GameId),
  username: Schema.String.check(Schema.makeFilter(isUsername, { expected: "a user name" })),
  displayName: nullish(Schema.String),
  avatarUrl: nullish(Schema.String),
  profileUrl: nullish(Schema.String),
  description: nullish(Schema.String),
  createdAt: nullish(Time),
  banned: nullish(Schema.Boolean),
});

/** Returns the URL of a page that browsers may open; null for others, such as `javascript:`. */
export const webPage = (url: string | null): string | null =>
  url && /^https?:\/\//iu.test(url) ? (URL.parse(url)?.href ?? null) : null;

export const Groups = Schema.Struct({
  groups: entriesOf(
    Schema.Struct({
      id: Id,
      name: nullish(Schema.String),
      rank: nullish(Rank),
      role: nullish(Schema.String),
    }),
    // A group that is left out would take roles.
    { decides: true },
  ),
});

export const Group = Schema.Struct({
  id: Id,
  name: nullish(Schema.String),
  ranks: entriesOf(Schema.Struct({ rank: Rank, name: Schema.String })),
});

export const Owned = Schema.Struct({ owned: Schema.Boolean });

/** Features of later releases are passed over. */
export const Features = Schema.Struct({
  features: entriesOf(Schema.String),
  items: nullish(entriesOf(ItemKind)),
});

export const gameFeatures = ({ features, items }: typeof Features.Type): GameFeatures => ({
  names: features.includes("names"),
  groups: features.includes("groups"),
  descriptions: features.includes("descriptions"),
  ages: features.includes("ages"),
  items: features.includes("items") ? (items ?? []) : [],
});

/** Whether the contract, which has IDs of groups as numbers, can name the group. */
export const isGroupId = (text: string): boolean =>
  /^\d+$/u.test(text) && String(Number(text)) === text && Number.isSafeInteger(Number(text));

export const gameGroups = ({ groups }: typeof Groups.Type): ReadonlyArray<GameGroup> =>
  groups
    .filter(({ id }) => isGroupId(id))
    .map(({ id, name, rank, role }) => ({
      id: Number(id),
      name,
      memberCount: null,
      hasVerifiedBadge: null,
      role: { id: rank ?? 0, name: role, rank },
    }));

const createdOf = ({ createdAt }: typeof User.Type): string | null => {
  const time = createdAt ? Date.parse(createdAt) : earliest - 1;
  return time < earliest ? null : new Date(time).toISOString();
};

export const gameProfile = (user: typeof User.Type, groups: GameProfile["groups"]): GameProfile => ({
  id: user.id,
  username: user.username,
  displayName: user.displayName,
  description: user.description,
  created: createdOf(user),
  isBanned: user.banned,
  hasVerifiedBadge: null,
  avatar: { headshot: user.avatarUrl, fullBody: null },
  // The game has no badges, which is known.
  badges: [],
  groups,
});
