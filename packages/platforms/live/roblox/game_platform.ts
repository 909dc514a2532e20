import { GameId, GamePlatform, type PlatformUnavailable } from "@accountlink/core";
import {
  type GameGroup,
  type GameItem,
  groupPageSize,
  type ItemOwnership,
  isSameUsername,
  type ProfilePart,
  profileParts,
} from "@accountlink/core/platforms";
import { Cache, Duration, Effect, Exit, Layer, Option, type Redacted, Result, Schema } from "effect";
import type { HttpClient } from "effect/http";
import { type Resilience, resilientClient } from "../../http/mod.ts";
import { ask, type Route, type RouteRequest } from "../answers.ts";
import { makeOpenCloud } from "./open_cloud.ts";
import {
  Badges,
  byRank,
  DatedUser,
  FoundGroups,
  FoundUsers,
  GroupMembers,
  GroupRoles,
  gameProfile,
  Item,
  imageOf,
  isRobloxId,
  liveDescriptionPage,
  Memberships,
  type RobloxItem,
  robloxApi,
  robloxClient,
  Thumbnails,
  User,
} from "./roblox_api.ts";
import { answerOf } from "./sources.ts";

export interface LiveGamePlatformOptions {
  /** The base URL of Roblox's services, with `{service}` in place of the service's name. */
  readonly apiUrl?: string | undefined;
  /** A key of Open Cloud. Without one, only the legacy routes are asked. */
  readonly apiKey?: Redacted.Redacted | undefined;
  readonly resilience?: Partial<Resilience>;
}

/** How long an item is known to exist. */
const knownFor = Duration.minutes(10);

/** Roblox's names for kinds of items, and the route that describes an item. */
const itemTypes = {
  gamepass: ["GamePass", "GET apis.roblox.com/game-passes/v1/game-passes/{id}/product-info"],
  badge: ["Badge", "GET badges.roblox.com/v1/badges/{badgeId}"],
  asset: ["Asset", "GET economy.roblox.com/v2/assets/{id}/details"],
} as const;

const isItemKind = (item: string): item is RobloxItem["item"] => Object.hasOwn(itemTypes, item);

/**
 * The game platform port on Roblox's public APIs. With a key, users, groups and items come from Open Cloud, and from the
 * legacy routes, which need no key, where Open Cloud refuses or does not answer. The application provides the HTTP client.
 *
 * A profile combines the responses of four services, requested in parallel. The users service is required; parts from
 * a service that fails are null.
 */
export const liveGamePlatform = ({
  apiUrl = robloxApi,
  apiKey,
  resilience,
}: LiveGamePlatformOptions = {}): Layer.Layer<GamePlatform, never, HttpClient.HttpClient> =>
  Layer.effect(
    GamePlatform,
    Effect.gen(function* () {
      const http = yield* robloxClient(apiUrl);
      // Each service has its own circuit, so that user lookups work while an optional service is down.
      const users = yield* resilientClient(http, "game", resilience);
      const thumbnails = yield* resilientClient(http, "game_thumbnails", resilience);
      const groups = yield* resilientClient(http, "game_groups", resilience);
      const memberships = yield* resilientClient(http, "game_memberships", resilience);
      const badges = yield* resilientClient(http, "game_badges", resilience);
      const inventory = yield* resilientClient(http, "game_inventory", resilience);
      const items = yield* resilientClient(http, "game_items", resilience);

      const cloud = apiKey && (yield* makeOpenCloud(http, apiKey, resilience));

      const findUser = Effect.fnUntraced(function* (
        operation: string,
        gameId: GameId,
        found: Schema.ConstraintDecoder<typeof User.Type> = User,
        isWhole = false,
      ) {
        if (!isRobloxId(gameId)) return Option.none();
        const legacy = yield* Effect.cached(
          Effect.map(
            ask(users, "GET users.roblox.com/v1/users/{userId}", {
              operation,
              path: [gameId],
              found,
              matches: ({ id }) => String(id) === gameId,
            }),
            Result.getSuccess,
          ),
        );
        const asked = answerOf("user", cloud?.findUser(operation, gameId), legacy);
        if (cloud === undefined || !isWhole) return yield* asked;
        // Open Cloud does not tell bans and verified badges.
        const rest = Effect.orElseSucceed(legacy, () => Option.none());
        const [user, others] = yield* Effect.all([asked, rest], { concurrency: "unbounded" });
        return Option.map(user, (own) => {
          const { isBanned, hasVerifiedBadge } = Option.getOrElse(others, () => own);
          return { ...own, isBanned, hasVerifiedBadge };
        });
      });

      /** Returns a part of a profile; null if its service does not answer. */
      const part = <A>(client: typeof users, route: Route, request: Omit<RouteRequest<A>, "operation">) =>
        ask(client, route, { operation: "GamePlatform.findProfile", ...request }).pipe(
          Effect.map(Result.getOrNull),
          Effect.orElseSucceed(() => null),
        );

      const image = (kind: "avatar" | "avatar-headshot", gameId: GameId) =>
        Effect.map(
          part(thumbnails, `GET thumbnails.roblox.com/v1/users/${kind}`, {
            query: { userIds: gameId, size: "420x420", format: "Png", isCircular: false },
            found: Thumbnails,
          }),
          (answer) => imageOf(answer?.data ?? [], gameId),
        );

      const legacyGroupsOf = (gameId: GameId) =>
        ask(memberships, "GET groups.roblox.com/v2/users/{userId}/groups/roles", {
          operation: "GamePlatform.findProfile",
          path: [gameId],
          query: { includeLocked: false, includeNotificationPreferences: false, discoveryType: 0 },
          found: Memberships,
        }).pipe(
          Effect.map(
            Result.match({
              onSuccess: ({ data }) => data.map(({ group, role }): GameGroup => ({ ...group, role })),
              onFailure: (_: "absent") => [],
            }),
          ),
        );

      /** Open Cloud tells ranks group by group, which is too many requests for all groups of a user. */
      const groupsOf = (gameId: GameId, groupIds: ReadonlyArray<string>) =>
        answerOf(
          "groups",
          groupIds.length === 0 ? undefined : cloud?.findGroups(gameId, groupIds),
          legacyGroupsOf(gameId),
        ).pipe(Effect.orElseSucceed(() => null));

      const findProfile = Effect.fnUntraced(function* (
        gameId: GameId,
        needed: ReadonlyArray<ProfilePart> = profileParts,
        groupIds: ReadonlyArray<string> = [],
      ) {
        const isWhole = needed.length === profileParts.length;
        const answered = isWhole ? User : DatedUser;
        const user = yield* findUser("GamePlatform.findProfile", gameId, answered, isWhole);
        if (Option.isNone(user)) return Option.none();
        const ifNeeded = <A>(name: ProfilePart, value: Effect.Effect<A>) =>
          needed.includes(name) ? value : Effect.succeed(null);
        const parts = yield* Effect.all(
          {
            headshot: ifNeeded("avatar", image("avatar-headshot", gameId)),
            fullBody: ifNeeded("avatar", image("avatar", gameId)),
            badges: ifNeeded(
              "badges",
              part(badges, "GET accountinformation.roblox.com/v1/users/{userId}/roblox-badges", {
                path: [gameId],
                found: Badges,
              }),
            ),
            groups: ifNeeded("groups", groupsOf(gameId, groupIds)),
          },
          { concurrency: "unbounded" },
        );
        return Option.some(gameProfile(user.value, parts));
      });

      const findLegacyGroup = Effect.fnUntraced(function* (groupId: string) {
        const operation = "GamePlatform.findGroup";
        const named = yield* ask(groups, "GET groups.roblox.com/v2/groups", {
          operation,
          query: { groupIds: groupId },
          found: FoundGroups,
        });
        const group = Result.getOrThrow(named).data.find(({ id }) => String(id) === groupId);
        if (group === undefined) return Option.none();
        const ranked = yield* ask(groups, "GET groups.roblox.com/v1/groups/{groupId}/roles", {
          operation,
          path: [groupId],
          found: GroupRoles,
        });
        return Option.map(Result.getSuccess(ranked), ({ roles }) => {
          const ranks = roles.map(({ rank, name }) => ({ rank, name }));
          const { name, memberCount } = group;
          return { id: groupId, name, memberCount, ranks: ranks.toSorted(byRank) };
        });
      });

      const legacyGroupMembers = (groupId: string, cursor: string | null) =>
        Effect.map(
          ask(groups, "GET groups.roblox.com/v1/groups/{groupId}/users", {
            operation: "GamePlatform.groupMembers",
            path: [groupId],
            query: { limit: groupPageSize, sortOrder: "Asc", cursor: cursor ?? undefined },
            found: GroupMembers,
          }),
          (page) =>
            Option.map(Result.getSuccess(page), ({ data, nextPageCursor }) => ({
              members: data.map(({ user, role }) => ({ gameId: String(user.userId), role })),
              next: nextPageCursor === "" ? null : nextPageCursor,
            })),
        );

      const findItem = ({ item, itemId }: GameItem) => {
        if (!isItemKind(item) || !isRobloxId(itemId)) return Effect.succeedNone;
        const request = { operation: "GamePlatform.findItem", path: [itemId], found: Item };
        return Effect.map(ask(items, itemTypes[item][1], request), (found) =>
          Option.map(Result.getSuccess(found), (named) => ({
            name: "Name" in named ? named.Name : named.name,
          })),
        );
      };

      const hasLegacyItem = (gameId: GameId, { item, itemId }: RobloxItem) =>
        Effect.map(
          ask(
            inventory,
            "GET inventory.roblox.com/v1/users/{userId}/items/{itemType}/{itemTargetId}/is-owned",
            {
              operation: "GamePlatform.hasItem",
              path: [gameId, itemTypes[item][0], itemId],
              found: Schema.Boolean,
            },
          ),
          Result.match({
            onSuccess: (isOwned): ItemOwnership => (isOwned ? "owned" : "not_owned"),
            onFailure: (meaning) => meaning,
          }),
        );

      /** Whether an item exists, by its kind and ID. */
      const known = yield* Cache.makeWith(
        (key: string) => {
          const [item = "", itemId = ""] = key.split(" ");
          return Effect.map(findItem({ item, itemId }), Option.isSome);
        },
        { capacity: 1_000, timeToLive: (exit) => (Exit.isSuccess(exit) ? knownFor : Duration.seconds(10)) },
      );

      /** Open Cloud has no word for an item that does not exist. */
      const hasCloudItem = (gameId: GameId, item: RobloxItem) =>
        cloud &&
        Effect.flatMap(cloud.hasItem(gameId, item), (found) =>
          Result.isSuccess(found) && found.success === "not_owned"
            ? Cache.get(known, `${item.item} ${item.itemId}`).pipe(
                Effect.orElseSucceed(() => true),
                Effect.map((isKnown) => Result.succeed<ItemOwnership>(isKnown ? "not_owned" : "no_item")),
              )
            : Effect.succeed(found),
        );

      const hasItem = (gameId: GameId, item: GameItem): Effect.Effect<ItemOwnership, PlatformUnavailable> => {
        const { item: kind, itemId } = item;
        if (!isItemKind(kind) || !isRobloxId(itemId)) return Effect.succeed("no_item");
        if (!isRobloxId(gameId)) return Effect.succeed("not_owned");
        const named = { item: kind, itemId };
        return answerOf("item", hasCloudItem(gameId, named), hasLegacyItem(gameId, named));
      };

      const findByName = (username: string) =>
        Effect.map(
          ask(users, "POST users.roblox.com/v1/usernames/users", {
            operation: "GamePlatform.findUserByName",
            body: { usernames: [username], excludeBannedUsers: false },
            found: FoundUsers,
          }),
          (found) => {
            // Roblox also finds users by their previous names.
            const user = Result.getOrThrow(found).data.find(({ name }) => isSameUsername(name, username));
            return user === undefined ? Option.none() : Option.some(GameId.make(String(user.id)));
          },
        );

      return GamePlatform.of({
        hasUser: (gameId) => Effect.map(findUser("GamePlatform.hasUser", gameId), Option.isSome),
        findProfile,
        findGroup: (groupId) =>
          isRobloxId(groupId)
            ? answerOf("group", cloud?.findGroup(groupId), findLegacyGroup(groupId))
            : Effect.succeedNone,
        groupMembers: (groupId, cursor) =>
          cloud?.isCursor(cursor)
            ? Effect.map(cloud.groupMembers(groupId, cursor), Result.merge)
            : answerOf(
                "group_members",
                cursor === null ? cloud?.groupMembers(groupId, null) : undefined,
                legacyGroupMembers(groupId, cursor),
              ),
        findItem,
        hasItem,
        findDescription: (gameId) =>
          Effect.map(
            findUser("GamePlatform.findDescription", gameId),
            Option.map(({ description }) => description ?? ""),
          ),
        descriptionPage: () => liveDescriptionPage,
        findNames: (gameIds) =>
          Effect.map(
            ask(users, "POST users.roblox.com/v1/users", {
              operation: "GamePlatform.findNames",
              body: { userIds: gameIds.filter(isRobloxId).map(Number), excludeBannedUsers: false },
              found: FoundUsers,
            }),
            (found) =>
              new Map(
                Result.getOrThrow(found).data.map(({ id, name, displayName }) => [
                  GameId.make(String(id)),
                  { username: name, displayName },
                ]),
              ),
          ),
        // Roblox answers requests for texts that are no name of a user with errors.
        findUserByName: (username) =>
          /^\w{1,50}$/.test(username) ? findByName(username) : Effect.succeedNone,
      });
    }),
  );
