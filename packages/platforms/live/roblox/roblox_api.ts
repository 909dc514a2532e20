/** Roblox's services, the parts of their responses that this service reads, and what they become in core. */
import { GameBadge, type GameItem, type GameProfile } from "@accountlink/core/platforms";
import { DateTime, Effect, Order, Schema } from "effect";
import { HttpClient, HttpClientRequest } from "effect/http";
import { type EntriesOptions, entriesOf, nullish, unlessOdd } from "../../http/mod.ts";

export const robloxApi = "https://{service}.roblox.com";

/** The base URL of a service. `apiUrl` has `{service}` in place of the service's name. */
export const robloxService = (apiUrl: string, service: string): string =>
  apiUrl.replace("{service}", service);

/** The HTTP client for URLs that begin with the host of a Roblox service, which it replaces. */
export const robloxClient = (apiUrl: string) =>
  Effect.map(
    HttpClient.HttpClient,
    HttpClient.mapRequest(
      HttpClientRequest.updateUrl((url) =>
        url.replace(/^(\w+)\.roblox\.com/u, (_, service: string) => robloxService(apiUrl, service)),
      ),
    ),
  );

export interface RobloxItem extends GameItem {
  readonly item: "gamepass" | "badge" | "asset";
}

/** Where a user of Roblox edits the description of the account. */
export const liveDescriptionPage = "https://www.roblox.com/my/account#!/info";

export const User = Schema.Struct({
  id: Schema.Int,
  name: Schema.String,
  displayName: unlessOdd(Schema.String),
  description: nullish(Schema.String),
  created: unlessOdd(Schema.DateTimeUtcFromString),
  isBanned: unlessOdd(Schema.Boolean),
  hasVerifiedBadge: unlessOdd(Schema.Boolean),
});

/** A user whose age decides about roles: a time that cannot be read is no answer, since a user without one loses them. */
export const DatedUser = Schema.Struct({ ...User.fields, created: nullish(Schema.DateTimeUtcFromString) });

const listOf = <A>(entry: Schema.ConstraintDecoder<A>, options?: EntriesOptions) =>
  Schema.Struct({ data: entriesOf(entry, options) });

export const Thumbnails = listOf(
  Schema.Struct({
    targetId: Schema.Int,
    /** Such as `Completed`, `Pending` or `Blocked`. Only a thumbnail in the state `Completed` has an image. */
    state: Schema.String,
    imageUrl: nullish(Schema.String),
  }),
);

/** The ID of a user or a group in a list. */
const Id = Schema.Int.check(Schema.isGreaterThan(0));

/** Whoever is left out of a list would be absent, so that members lose roles. */
const decides = { decides: true };

/** Orders ranks of a group, lowest first. */
export const byRank = Order.mapInput(Order.Number, ({ rank }: { readonly rank: number }) => rank);

/** The response of a lookup of users by name or ID. */
export const FoundUsers = listOf(
  Schema.Struct({ id: Id, name: Schema.String, displayName: unlessOdd(Schema.String) }),
  decides,
);

/** The response of a lookup of groups by ID. */
export const FoundGroups = listOf(
  Schema.Struct({ id: Id, name: unlessOdd(Schema.String), memberCount: unlessOdd(Schema.Int) }),
  decides,
);

const GroupRole = Schema.Struct({
  id: Schema.Int,
  name: nullish(Schema.String),
  rank: nullish(Schema.Int),
});

/** The role of a known member, whose rank is unknown if the role cannot be read. */
const MemberRole = unlessOdd(GroupRole);

export const GroupMembers = Schema.Struct({
  data: entriesOf(Schema.Struct({ user: Schema.Struct({ userId: Id }), role: MemberRole }), decides),
  nextPageCursor: nullish(Schema.String),
});

export const GroupRoles = Schema.Struct({
  roles: entriesOf(Schema.Struct({ rank: Schema.Int, name: Schema.String })),
});

/** An item: a game pass and an asset have a `Name`, a badge has a `name`. */
export const Item = Schema.Union([
  Schema.Struct({ Name: Schema.String }),
  Schema.Struct({ name: Schema.String }),
]);

export const Memberships = listOf(
  Schema.Struct({
    group: Schema.Struct({
      id: Id,
      name: nullish(Schema.String),
      memberCount: nullish(Schema.Int),
      hasVerifiedBadge: nullish(Schema.Boolean),
    }),
    role: MemberRole,
  }),
  decides,
);

/**
 * The badges that Roblox itself awards. There are about twenty, so this list is short; a user can have thousands of
 * badges from games.
 */
export const Badges = entriesOf(GameBadge);

/** Whether the text is a Roblox ID, which is an integer. Roblox answers requests for other texts with an error. */
export const isRobloxId = (text: string): boolean =>
  /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text));

/** The URL of the user's image once Roblox has rendered and approved it. */
export const imageOf = (thumbnails: (typeof Thumbnails.Type)["data"], gameId: string): string | null => {
  const own = thumbnails.find(({ targetId }) => String(targetId) === gameId);
  return own?.state === "Completed" ? own.imageUrl : null;
};

/** The parts of a profile that do not come from the users service. */
interface ProfileParts {
  readonly headshot: string | null;
  readonly fullBody: string | null;
  readonly badges: GameProfile["badges"];
  readonly groups: GameProfile["groups"];
}

export const gameProfile = (
  user: typeof User.Type,
  { headshot, fullBody, badges, groups }: ProfileParts,
): GameProfile => ({
  id: String(user.id),
  username: user.name,
  displayName: user.displayName,
  description: user.description,
  created: user.created && DateTime.formatIso(user.created),
  isBanned: user.isBanned,
  hasVerifiedBadge: user.hasVerifiedBadge,
  avatar: { headshot, fullBody },
  badges,
  groups,
});
