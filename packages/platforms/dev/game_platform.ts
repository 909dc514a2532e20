import { GameId, GamePlatform } from "@accountlink/core";
import { GameProfile, GroupPage, ItemDetails, RankedGroup } from "@accountlink/core/platforms";
import { Effect, Layer, Option, Schema } from "effect";
import { HttpClient, HttpClientRequest } from "effect/http";
import { finderOn, type Resilience, resilientClient } from "../http/mod.ts";
import { Owned, Refusal } from "./wire.ts";

export interface DevGamePlatformOptions {
  /** The URL of the dev platform, such as `http://127.0.0.1:4000`. */
  readonly baseUrl: string;
  readonly resilience?: Partial<Resilience>;
}

/** Makes the game platform port for a dev platform. The application provides the HTTP client. */
export const devGamePlatform = ({
  baseUrl,
  resilience,
}: DevGamePlatformOptions): Layer.Layer<GamePlatform, never, HttpClient.HttpClient> =>
  Layer.effect(
    GamePlatform,
    Effect.gen(function* () {
      const http = HttpClient.mapRequest(
        yield* HttpClient.HttpClient,
        HttpClientRequest.prependUrl(`${baseUrl}/game/api`),
      );
      const find = finderOn(yield* resilientClient(http, "game", resilience), Refusal);

      return GamePlatform.of({
        hasUser: (gameId) =>
          Effect.map(find("GamePlatform.hasUser", `/users/${gameId}`, GameUser), Option.isSome),
        findProfile: (gameId) => find("GamePlatform.findProfile", `/users/${gameId}/profile`, GameProfile),
        findUserByName: (username) => {
          const url = `/users/by-name/${encodeURIComponent(username)}`;
          return Effect.map(
            find("GamePlatform.findUserByName", url, GameUser),
            Option.map(({ id }) => id),
          );
        },
        findGroup: (groupId) => find("GamePlatform.findGroup", `/groups/${groupId}`, RankedGroup),
        groupMembers: (groupId, cursor) => {
          const query = cursor === null ? "" : `?cursor=${cursor}`;
          return find("GamePlatform.groupMembers", `/groups/${groupId}/users${query}`, GroupPage);
        },
        findItem: ({ item, itemId }) =>
          find("GamePlatform.findItem", `/items/${item}/${itemId}`, ItemDetails),
        hasItem: (gameId, { item, itemId }) =>
          find("GamePlatform.hasItem", `/users/${gameId}/items/${item}/${itemId}`, Owned).pipe(
            Effect.map((found) => (Option.exists(found, ({ owned }) => owned) ? "owned" : "not_owned")),
          ),
      });
    }),
  );

const GameUser = Schema.Struct({ id: GameId, username: Schema.NullOr(Schema.String) });
