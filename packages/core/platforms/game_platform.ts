import { Context, Effect, type Option, Schema } from "effect";
import { type PlatformEffect, PlatformUnavailable } from "../errors.ts";
import type { GameId } from "../ids.ts";
import type { ReadCached } from "./find_each.ts";
import { GameGroup, type GameProfile } from "./profile.ts";

/** The kinds of items of a platform that does not name its own. @internal */
export const itemKinds = ["gamepass", "badge", "asset"] as const;

/** The name of a kind of items. @internal */
export const ItemKind = Schema.String.check(Schema.isPattern(/^[a-z][\w-]{0,31}$/u));

/** A thing that a game user can have. */
export interface GameItem {
  /** Such as `gamepass`. */
  readonly item: string;
  readonly itemId: string;
}

/** What a platform has of what not every platform has. */
export interface GameFeatures {
  /** Whether users are found by name. */
  readonly names: boolean;
  readonly groups: boolean;
  /** Whether users have a public description. */
  readonly descriptions: boolean;
  /** Whether profiles tell when an account was created. */
  readonly ages: boolean;
  /** The kinds of items that users can have. */
  readonly items: ReadonlyArray<string>;
}

/** What the platform tells about an item. @internal */
export const ItemDetails = Schema.Struct({ name: Schema.NullOr(Schema.String) });
export type ItemDetails = typeof ItemDetails.Type;

/**
 * Whether a game user has an item: `private` if the user's inventory does not tell, `no_item` if the platform has no
 * such item. @internal
 */
export const ItemOwnership = Schema.Literals(["owned", "not_owned", "private", "no_item"]);
export type ItemOwnership = typeof ItemOwnership.Type;

/** A group of the game platform, with the ranks of its members, lowest first. @internal */
export const RankedGroup = Schema.Struct({
  id: Schema.String,
  name: Schema.NullOr(Schema.String),
  memberCount: Schema.NullOr(Schema.Int),
  ranks: Schema.Array(Schema.Struct({ rank: Schema.Int, name: Schema.String })),
});
export type RankedGroup = typeof RankedGroup.Type;

/** The most members on a page of a group. @internal */
export const groupPageSize = 100;

/**
 * Members of a group with their roles; a member with several roles is listed with each. `next` is the cursor of the next
 * page, null on the last page. @internal
 */
export const GroupPage = Schema.Struct({
  members: Schema.Array(Schema.Struct({ gameId: Schema.String, role: GameGroup.fields.role })),
  next: Schema.NullOr(Schema.String),
});
export type GroupPage = typeof GroupPage.Type;

/** The parts of a profile that can cost the platform further requests. @internal */
export const profileParts = ["avatar", "badges", "groups"] as const;
export type ProfilePart = (typeof profileParts)[number];

export class GamePlatform extends Context.Service<
  GamePlatform,
  {
    readonly hasUser: (gameId: GameId) => PlatformEffect<boolean>;

    /**
     * Returns the public profile of a user. None if the user does not exist.
     *
     * @param parts the needed parts, all by default; other parts may be null
     * @param groupIds the needed groups, all if there are none; other groups may be left out
     */
    readonly findProfile: (
      gameId: GameId,
      parts?: ReadonlyArray<ProfilePart>,
      groupIds?: ReadonlyArray<string>,
    ) => PlatformEffect<Option.Option<GameProfile>>;

    /** Reads cached whole profiles; undefined if the adapter caches no answers. */
    readonly cachedProfiles?: ReadCached<GameId, Option.Option<GameProfile>>;

    /**
     * Returns the names of up to 100 users in one request, omitting users that do not exist. Undefined if the platform
     * has no such request.
     */
    readonly findNames?: (
      gameIds: ReadonlyArray<GameId>,
    ) => PlatformEffect<ReadonlyMap<GameId, Pick<GameProfile, "username" | "displayName">>>;

    /** Finds a user by user name, ignoring case. Undefined if the platform cannot find users by name. */
    readonly findUserByName?: (username: string) => PlatformEffect<Option.Option<GameId>>;

    /**
     * Returns the current public description of a user, past every cache; empty if the user has none. None if the
     * user does not exist. Undefined if users of the platform have no description.
     */
    readonly findDescription?: (gameId: GameId) => PlatformEffect<Option.Option<string>>;

    /** Returns the URL of the page where a user edits the description. Undefined if the platform has no such page. */
    readonly descriptionPage?: (gameId: GameId) => string;

    /** Returns the URL of a user's page; null if the user has none. Undefined if the platform does not tell pages. */
    readonly profilePage?: (gameId: GameId) => PlatformEffect<string | null>;

    /** Returns a group with its ranks. Undefined if the platform has no groups. */
    readonly findGroup?: (groupId: string) => PlatformEffect<Option.Option<RankedGroup>>;

    /**
     * Returns a page of a group's members, the first page if `cursor` is null. None if the group hides its members.
     * Undefined if the platform lists no members.
     */
    readonly groupMembers?: (
      groupId: string,
      cursor: string | null,
    ) => PlatformEffect<Option.Option<GroupPage>>;

    /** Returns an item. None if it does not exist. Undefined if the platform does not describe items. */
    readonly findItem?: (item: GameItem) => PlatformEffect<Option.Option<ItemDetails>>;

    /** Returns whether a user has an item. Undefined if users of the platform have no items. */
    readonly hasItem?: (gameId: GameId, item: GameItem) => PlatformEffect<ItemOwnership>;

    /**
     * Returns what the platform has at present; null until the platform has told it. Undefined for a platform that has
     * what its operations tell, and the kinds of items of Roblox.
     */
    readonly features?: Effect.Effect<GameFeatures | null>;
  }
>()("@accountlink/core/GamePlatform") {}

/**
 * Whether the game platform is Roblox, for whose players other services link accounts too. With another game, the routes
 * that are compatible with those services are not served. @internal
 */
export const IsRoblox = Context.Reference<boolean>("@accountlink/core/IsRoblox", {
  defaultValue: () => true,
});

/** What a game of one's own has that tells nothing. @internal */
export const noFeatures: GameFeatures = {
  names: false,
  groups: false,
  descriptions: false,
  ages: false,
  items: [],
};

/** What every other platform has that tells nothing. @internal */
export const usualFeatures: GameFeatures = {
  names: true,
  groups: true,
  descriptions: true,
  ages: true,
  items: itemKinds,
};

/** Returns what a platform has, as far as it has told it. @internal */
export const featuresOf = (platform: GamePlatform["Service"]): Effect.Effect<GameFeatures> =>
  Effect.map(toldFeaturesOf(platform), (features) => features ?? noFeatures);

/** Returns what a platform has. Fails until it has told it, since what it may have is not absent. @internal */
export const knownFeatures = (platform: GamePlatform["Service"]): PlatformEffect<GameFeatures> =>
  Effect.flatMap(toldFeaturesOf(platform), (features) =>
    features === null
      ? new PlatformUnavailable({ operation: "GamePlatform.features" })
      : Effect.succeed(features),
  );

/** Returns what a platform has; null until it has told it. @internal */
export const toldFeaturesOf = ({
  features,
  findUserByName,
  findDescription,
}: GamePlatform["Service"]): Effect.Effect<GameFeatures | null> =>
  features ??
  Effect.succeed({
    ...usualFeatures,
    names: findUserByName !== undefined,
    descriptions: findDescription !== undefined,
  });
