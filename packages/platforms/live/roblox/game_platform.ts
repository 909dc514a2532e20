import { GameId, GamePlatform } from "@accountlink/core";
import type { GameItem } from "@accountlink/core/platforms";
import { Effect, Layer, Option, Order, Schema } from "effect";
import { HttpClient, HttpClientRequest } from "effect/http";
import { findResource, type Resilience, resilientClient } from "../../http/mod.ts";
import { type RobloxService, robloxApi, robloxService } from "./roblox_api.ts";
import { gameGroup, gameProfile, imageOf, isRobloxId } from "./roblox_values.ts";
import {
  Badges,
  Found,
  GroupRoles,
  HiddenInventory,
  Memberships,
  Thumbnails,
  UnknownUser,
  User,
} from "./roblox_wire.ts";

export interface LiveGamePlatformOptions {
  /** The base URL of Roblox's services, with `{service}` in place of the service's name. */
  readonly apiUrl?: string | undefined;
  readonly resilience?: Partial<Resilience>;
}

/** Roblox's names for kinds of items. */
const itemTypes = { gamepass: "GamePass", badge: "Badge", asset: "Asset" } as const;

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
      const clientOf = (service: RobloxService, platform: string) =>
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

      const findUser = (operation: string, gameId: GameId) =>
        isRobloxId(gameId)
          ? findResource(users, {
              operation,
              url: `/v1/users/${gameId}`,
              found: User,
              matches: ({ id }) => String(id) === gameId,
              absent: UnknownUser,
            })
          : Effect.succeedNone;

      const part = <A>(client: typeof users, url: string, found: Schema.ConstraintDecoder<A>) =>
        findResource(client, {
          operation: "GamePlatform.findProfile",
          url,
          found,
          absent: Schema.Never,
        }).pipe(
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

      const findProfile = Effect.fnUntraced(function* (gameId: GameId) {
        const user = yield* findUser("GamePlatform.findProfile", gameId);
        if (Option.isNone(user)) return Option.none();
        const parts = yield* Effect.all(
          {
            headshot: image("avatar-headshot", gameId),
            fullBody: image("avatar", gameId),
            badges: part(badges, `/v1/users/${gameId}/roblox-badges`, Badges),
            groups: groupsOf(gameId),
          },
          { concurrency: "unbounded" },
        );
        return Option.some(gameProfile(user.value, parts));
      });

      const ofGroup = <A>(url: string, found: Schema.ConstraintDecoder<A>) =>
        Effect.map(
          findResource(groups, { operation: "GamePlatform.findGroup", url, found, absent: Schema.Never }),
          Option.getOrNull,
        );

      const findGroup = Effect.fnUntraced(function* (groupId: string) {
        // The roles of an unknown group are an error of Roblox, so ask for the group first.
        const named = isRobloxId(groupId) ? yield* ofGroup(`/v2/groups?groupIds=${groupId}`, Found) : null;
        const group = named?.data.find(({ id }) => String(id) === groupId);
        if (group === undefined) return Option.none();
        const ranked = yield* ofGroup(`/v1/groups/${groupId}/roles`, GroupRoles);
        const ranks = (ranked?.roles ?? []).map(({ rank, name }) => ({ rank, name }));
        return Option.some({ id: groupId, name: group.name, ranks: ranks.toSorted(byRank) });
      });

      const hasItem = (gameId: GameId, { item, itemId }: GameItem) =>
        isRobloxId(gameId) && isRobloxId(itemId)
          ? Effect.map(
              findResource(inventory, {
                operation: "GamePlatform.hasItem",
                url: `/v1/users/${gameId}/items/${itemTypes[item]}/${itemId}/is-owned`,
                found: Schema.Boolean,
                absent: HiddenInventory,
              }),
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
        hasItem,
        findUserByName: (username) =>
          Effect.map(
            findResource(users, {
              operation: "GamePlatform.findUserByName",
              url: "/v1/usernames/users",
              query: { usernames: [username], excludeBannedUsers: false },
              found: Found,
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
