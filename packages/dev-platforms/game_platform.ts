import { GameId, GamePlatform } from "@accountlink/core";
import { GameProfile, GroupPage, ItemDetails, RankedGroup } from "@accountlink/core/platforms";
import { finderOn, resilientClient } from "@accountlink/platforms/http";
import { Effect, Layer, Option, Result, Schema } from "effect";
import { HttpClient, HttpClientRequest } from "effect/http";
import { askDev } from "./ask_dev.ts";
import { Owned, Refusal } from "./wire.ts";

export interface DevGamePlatformOptions {
  /** The URL of the dev platform, such as `http://127.0.0.1:4000`. */
  readonly baseUrl: string;
}

/** Makes the game platform port for a dev platform. The application provides the HTTP client. */
export const devGamePlatform = ({
  baseUrl,
}: DevGamePlatformOptions): Layer.Layer<GamePlatform, never, HttpClient.HttpClient> =>
  Layer.effect(
    GamePlatform,
    Effect.gen(function* () {
      const http = HttpClient.mapRequest(
        yield* HttpClient.HttpClient,
        HttpClientRequest.prependUrl(`${baseUrl}/game/api`),
      );
      const client = yield* resilientClient(http, "game");
      const find = finderOn(client, Refusal);

      return GamePlatform.of({
        hasUser: (gameId) =>
          Effect.map(find("GamePlatform.hasUser", `/users/${gameId}`, GameUser), Option.isSome),
        findProfile: (gameId) => find("GamePlatform.findProfile", `/users/${gameId}/profile`, GameProfile),
        findUserByName: (username) => {
          const url = `/users/by-name?username=${encodeURIComponent(username)}`;
          return Effect.map(
            find("GamePlatform.findUserByName", url, GameUser),
            Option.map(({ id }) => id),
          );
        },
        findDescription: (gameId) =>
          Effect.map(
            find("GamePlatform.findDescription", `/users/${gameId}`, DescribedUser),
            Option.map(({ description }) => description ?? ""),
          ),
        descriptionPage: (gameId) => `${baseUrl}/game/users/${gameId}`,
        findGroup: (groupId) => find("GamePlatform.findGroup", `/groups/${groupId}`, RankedGroup),
        groupMembers: (groupId, cursor) => {
          const query = cursor === null ? "" : `?cursor=${cursor}`;
          return find("GamePlatform.groupMembers", `/groups/${groupId}/users${query}`, GroupPage);
        },
        findItem: ({ item, itemId }) =>
          find("GamePlatform.findItem", `/items/${item}/${itemId}`, ItemDetails),
        hasItem: (gameId, { item, itemId }) => {
          const request = HttpClientRequest.get(`/users/${gameId}/items/${item}/${itemId}`);
          return Effect.map(
            askDev(client, "GamePlatform.hasItem", request, Owned),
            Result.match({
              onSuccess: ({ owned }) => (owned ? "owned" : "not_owned"),
              onFailure: (code) => (code === "no_item" ? "no_item" : "not_owned"),
            }),
          );
        },
      });
    }),
  );

const GameUser = Schema.Struct({ id: GameId, username: Schema.NullOr(Schema.String) });

const DescribedUser = Schema.Struct({ id: GameId, description: Schema.NullOr(Schema.String) });
