import { GameId, GamePlatform } from "@accountlink/core";
import { type GameItem, groupPageSize, type ProfilePart, profileParts } from "@accountlink/core/platforms";
import { Effect, Layer, Option, Order, Schema } from "effect";
import { HttpClient, HttpClientRequest } from "effect/http";
import { finderOn, findResource, type Resilience, resilientClient } from "../../http/mod.ts";
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
  NoItem,
  robloxApi,
  robloxService,
  Thumbnails,
  UnknownUser,
  User,
} from "./roblox_api.ts";

export interface LiveGamePlatformOptions {
  /** The base URL of Roblox's services, with `{service}` in place of the service's name. */
  readonly apiUrl?: string | undefined;
  readonly resilience?: Partial<Resilience>;
}

/** Roblox's names for kinds of items, and where a service describes an item. */
const itemTypes = {
  gamepass: ["GamePass", "apis", "/game-passes/v1/game-passes/{id}/product-info"],
  badge: ["Badge", "badges", "/v1/badges/{id}"],
  asset: ["Asset", "economy", "/v2/assets/{id}/details"],
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
      const http = yield* HttpClient.HttpClient;
      // Each service has its own circuit, so that user lookups work while an optional service is down.
      const clientOf = (service: string, platform: string) =>
        resilientClient(
          HttpClient.mapRequest(http, HttpClientRequest.prependUrl(robloxService(apiUrl, service))),
          platform,
          resilience,
        );
      const users = yield* clientOf("users", "game");
      const thumbnails = yield* clientOf("thumbnails", "game_thumbnails");
      const groups = yield* clientOf("groups", "game_groups");
      const badges = yield* clientOf("accountinformation", "game_badges");
      const inventory = yield* clientOf("inventory", "game_inventory");
      const items = yield* resilientClient(http, "game_items", resilience);

      const findUser = (operation: string, gameId: GameId) =>
        isRobloxId(gameId)
          ? finderOn(users)(
              operation,
              `/v1/users/${gameId}`,
              User,
              UnknownUser,
              ({ id }) => String(id) === gameId,
            )
          : Effect.succeedNone;

      const part = <A>(client: typeof users, url: string, found: Schema.ConstraintDecoder<A>) =>
        finderOn(client)("GamePlatform.findProfile", url, found).pipe(
          Effect.map(Option.getOrNull),
          Effect.orElseSucceed(() => null),
        );

      const image = (kind: "avatar" | "avatar-headshot", gameId: GameId) =>
        part(
          thumbnails,
          `/v1/users/${kind}?userIds=${gameId}&size=420x420&format=Png&isCircular=false`,
          Thumbnails,
        ).pipe(Effect.map((answer) => imageOf(answer?.data ?? [], gameId)));

      const groupsOf = (gameId: GameId) =>
        part(
          groups,
          `/v2/users/${gameId}/groups/roles?includeLocked=false&includeNotificationPreferences=false&discoveryType=0`,
          Memberships,
        ).pipe(Effect.map((answer) => answer?.data.map(gameGroup) ?? null));

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
            badges: ifNeeded("badges", part(badges, `/v1/users/${gameId}/roblox-badges`, Badges)),
            groups: ifNeeded("groups", groupsOf(gameId)),
          },
          { concurrency: "unbounded" },
        );
        return Option.some(gameProfile(user.value, parts));
      });

      const ofGroup = <A>(url: string, found: Schema.ConstraintDecoder<A>) =>
        Effect.map(finderOn(groups)("GamePlatform.findGroup", url, found), Option.getOrThrow);

      const findGroup = Effect.fnUntraced(function* (groupId: string) {
        // The roles of an unknown group are an error of Roblox, so ask for the group first.
        const named = isRobloxId(groupId)
          ? yield* ofGroup(`/v2/groups?groupIds=${groupId}`, FoundGroups)
          : null;
        const group = named?.data.find(({ id }) => String(id) === groupId);
        if (group === undefined) return Option.none();
        const { roles } = yield* ofGroup(`/v1/groups/${groupId}/roles`, GroupRoles);
        const ranks = roles.map(({ rank, name }) => ({ rank, name }));
        const { name, memberCount = null } = group;
        return Option.some({ id: groupId, name, memberCount, ranks: ranks.toSorted(byRank) });
      });

      const groupMembers = (groupId: string, cursor: string | null) => {
        const after = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
        const url = `/v1/groups/${groupId}/users?limit=${groupPageSize}&sortOrder=Asc${after}`;
        return finderOn(groups)("GamePlatform.groupMembers", url, GroupMembers).pipe(
          Effect.map(Option.getOrThrow),
          Effect.map(({ data, nextPageCursor }) => ({
            members: data.map(({ user, role }) => ({ gameId: String(user.userId), role: gameRole(role) })),
            next: nextPageCursor ?? null,
          })),
        );
      };

      const findItem = ({ item, itemId }: GameItem) => {
        const [, service, path] = itemTypes[item];
        const url = robloxService(apiUrl, service) + path.replace("{id}", itemId);
        const found = isRobloxId(itemId)
          ? finderOn(items)("GamePlatform.findItem", url, Item, NoItem)
          : Effect.succeedNone;
        return Effect.map(
          found,
          Option.map((named) => ({ name: "Name" in named ? named.Name : named.name })),
        );
      };

      const hasItem = (gameId: GameId, { item, itemId }: GameItem) =>
        isRobloxId(gameId) && isRobloxId(itemId)
          ? Effect.map(
              finderOn(inventory)(
                "GamePlatform.hasItem",
                `/v1/users/${gameId}/items/${itemTypes[item][0]}/${itemId}/is-owned`,
                Schema.Boolean,
                NoItem,
              ),
              Option.match({
                onNone: () => "private" as const,
                onSome: (isOwned) => (isOwned ? ("owned" as const) : ("not_owned" as const)),
              }),
            )
          : Effect.succeed("not_owned" as const);

      return GamePlatform.of({
        hasUser: (gameId) => Effect.map(findUser("GamePlatform.hasUser", gameId), Option.isSome),
        findProfile,
        findGroup,
        groupMembers,
        findItem,
        hasItem,
        findUserByName: (username) =>
          Effect.map(
            findResource(users, {
              operation: "GamePlatform.findUserByName",
              url: "/v1/usernames/users",
              query: { usernames: [username], excludeBannedUsers: false },
              found: FoundUsers,
              absent: Schema.Never,
            }),
            Option.flatMapNullishOr(({ data }) => {
              // Roblox also finds users by their previous names.
              const user = data.find(({ name }) => name.toLowerCase() === username.toLowerCase());
              return user && GameId.make(String(user.id));
            }),
          ),
      });
    }),
  );
