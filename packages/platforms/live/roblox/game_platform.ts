import { GameId, GamePlatform, type PlatformUnavailable } from "@accountlink/core";
import {
  type GameItem,
  groupPageSize,
  type ItemOwnership,
  type ProfilePart,
  profileParts,
} from "@accountlink/core/platforms";
import { Effect, Layer, Option, Order, Result, Schema } from "effect";
import { HttpClient, HttpClientRequest } from "effect/http";
import { type Resilience, resilientClient } from "../../http/mod.ts";
import { ask, type Route, type RouteRequest } from "../answers.ts";
import {
  Badges,
  FoundGroups,
  FoundUsers,
  GroupMembers,
  GroupRoles,
  gameGroup,
  gameProfile,
  gameRole,
  Item,
  imageOf,
  isRobloxId,
  Memberships,
  robloxApi,
  robloxUrl,
  Thumbnails,
  User,
} from "./roblox_api.ts";

export interface LiveGamePlatformOptions {
  /** The base URL of Roblox's services, with `{service}` in place of the service's name. */
  readonly apiUrl?: string | undefined;
  readonly resilience?: Partial<Resilience>;
}

/** Roblox's names for kinds of items, and the route that describes an item. */
const itemTypes = {
  gamepass: ["GamePass", "GET apis.roblox.com/game-passes/v1/game-passes/{id}/product-info"],
  badge: ["Badge", "GET badges.roblox.com/v1/badges/{badgeId}"],
  asset: ["Asset", "GET economy.roblox.com/v2/assets/{id}/details"],
} as const;

const byRank = Order.mapInput(Order.Number, ({ rank }: { readonly rank: number }) => rank);

/**
 * The game platform port on Roblox's public APIs, which need no key. The application provides the HTTP client.
 *
 * A profile combines the responses of four services, requested in parallel. The users service is required; parts from
 * a service that fails are null.
 */
export const liveGamePlatform = ({
  apiUrl = robloxApi,
  resilience,
}: LiveGamePlatformOptions = {}): Layer.Layer<GamePlatform, never, HttpClient.HttpClient> =>
  Layer.effect(
    GamePlatform,
    Effect.gen(function* () {
      const http = HttpClient.mapRequest(
        yield* HttpClient.HttpClient,
        HttpClientRequest.updateUrl(robloxUrl(apiUrl)),
      );
      // Each service has its own circuit, so that user lookups work while an optional service is down.
      const users = yield* resilientClient(http, "game", resilience);
      const thumbnails = yield* resilientClient(http, "game_thumbnails", resilience);
      const groups = yield* resilientClient(http, "game_groups", resilience);
      const badges = yield* resilientClient(http, "game_badges", resilience);
      const inventory = yield* resilientClient(http, "game_inventory", resilience);
      const items = yield* resilientClient(http, "game_items", resilience);

      const findUser = (operation: string, gameId: GameId) =>
        isRobloxId(gameId)
          ? Effect.map(
              ask(users, "GET users.roblox.com/v1/users/{userId}", {
                operation,
                path: [gameId],
                found: User,
                matches: ({ id }) => String(id) === gameId,
              }),
              Result.getSuccess,
            )
          : Effect.succeedNone;

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

      const groupsOf = (gameId: GameId) =>
        ask(groups, "GET groups.roblox.com/v2/users/{userId}/groups/roles", {
          operation: "GamePlatform.findProfile",
          path: [gameId],
          query: { includeLocked: false, includeNotificationPreferences: false, discoveryType: 0 },
          found: Memberships,
        }).pipe(
          Effect.map(
            Result.match({ onSuccess: ({ data }) => data.map(gameGroup), onFailure: (_: "absent") => [] }),
          ),
          Effect.orElseSucceed(() => null),
        );

      const findProfile = Effect.fnUntraced(function* (
        gameId: GameId,
        needed: ReadonlyArray<ProfilePart> = profileParts,
      ) {
        const user = yield* findUser("GamePlatform.findProfile", gameId);
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
            groups: ifNeeded("groups", groupsOf(gameId)),
          },
          { concurrency: "unbounded" },
        );
        return Option.some(gameProfile(user.value, parts));
      });

      const findGroup = Effect.fnUntraced(function* (groupId: string) {
        if (!isRobloxId(groupId)) return Option.none();
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
          const { name, memberCount = null } = group;
          return { id: groupId, name, memberCount, ranks: ranks.toSorted(byRank) };
        });
      });

      const groupMembers = (groupId: string, cursor: string | null) =>
        Effect.map(
          ask(groups, "GET groups.roblox.com/v1/groups/{groupId}/users", {
            operation: "GamePlatform.groupMembers",
            path: [groupId],
            query: { limit: groupPageSize, sortOrder: "Asc", cursor: cursor ?? undefined },
            found: GroupMembers,
          }),
          (page) =>
            Option.map(Result.getSuccess(page), ({ data, nextPageCursor }) => ({
              members: data.map(({ user, role }) => ({ gameId: String(user.userId), role: gameRole(role) })),
              next: nextPageCursor ?? null,
            })),
        );

      const findItem = ({ item, itemId }: GameItem) => {
        if (!isRobloxId(itemId)) return Effect.succeedNone;
        const request = { operation: "GamePlatform.findItem", path: [itemId], found: Item };
        return Effect.map(ask(items, itemTypes[item][1], request), (found) =>
          Option.map(Result.getSuccess(found), (named) => ({
            name: "Name" in named ? named.Name : named.name,
          })),
        );
      };

      const hasItem = (
        gameId: GameId,
        { item, itemId }: GameItem,
      ): Effect.Effect<ItemOwnership, PlatformUnavailable> => {
        if (!isRobloxId(itemId)) return Effect.succeed("no_item");
        if (!isRobloxId(gameId)) return Effect.succeed("not_owned");
        return Effect.map(
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
            onSuccess: (isOwned) => (isOwned ? "owned" : "not_owned"),
            onFailure: (meaning) => meaning,
          }),
        );
      };

      return GamePlatform.of({
        hasUser: (gameId) => Effect.map(findUser("GamePlatform.hasUser", gameId), Option.isSome),
        findProfile,
        findGroup,
        groupMembers,
        findItem,
        hasItem,
        findUserByName: (username) =>
          Effect.map(
            ask(users, "POST users.roblox.com/v1/usernames/users", {
              operation: "GamePlatform.findUserByName",
              body: { usernames: [username], excludeBannedUsers: false },
              found: FoundUsers,
            }),
            (found) => {
              // Roblox also finds users by their previous names.
              const user = Result.getOrThrow(found).data.find(
                ({ name }) => name.toLowerCase() === username.toLowerCase(),
              );
              return user === undefined ? Option.none() : Option.some(GameId.make(String(user.id)));
            },
          ),
      });
    }),
  );
