import { GameId, GamePlatform } from "@accountlink/core";
import { type GameItem, GameProfile, GroupPage, ItemDetails, RankedGroup } from "@accountlink/core/platforms";
import { Effect, flow, Layer, Option, Schema } from "effect";
import { HttpClient, HttpClientRequest } from "effect/http";
import { findResource, type Resilience, resilientClient } from "../http/mod.ts";
import { GameUser, Owned, refusal } from "./wire.ts";

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
      const client = yield* resilientClient(http, "game", resilience);

      const findUser = (gameId: GameId) =>
        findResource(client, {
          operation: "GamePlatform.hasUser",
          url: `/users/${gameId}`,
          found: GameUser,
          matches: ({ id }) => id === gameId,
          absent: refusal("unknown_user"),
        });

      const findProfile = (gameId: GameId) =>
        findResource(client, {
          operation: "GamePlatform.findProfile",
          url: `/users/${gameId}/profile`,
          found: GameProfile,
          matches: ({ id }) => id === gameId,
          absent: refusal("unknown_user"),
        });

      const findUserByName = (username: string) =>
        findResource(client, {
          operation: "GamePlatform.findUserByName",
          url: `/users/by-name/${encodeURIComponent(username)}`,
          found: GameUser,
          absent: refusal("unknown_user"),
        });

      const findGroup = (groupId: string) =>
        findResource(client, {
          operation: "GamePlatform.findGroup",
          url: `/groups/${groupId}`,
          found: RankedGroup,
          absent: refusal("unknown_group"),
        });

      const groupMembers = (groupId: string, cursor: string | null) =>
        Effect.map(
          findResource(client, {
            operation: "GamePlatform.groupMembers",
            url: `/groups/${groupId}/users${cursor === null ? "" : `?cursor=${cursor}`}`,
            found: GroupPage,
            absent: Schema.Never,
          }),
          Option.getOrThrow,
        );

      const findItem = ({ item, itemId }: GameItem) =>
        findResource(client, {
          operation: "GamePlatform.findItem",
          url: `/items/${item}/${itemId}`,
          found: ItemDetails,
          absent: refusal("unknown_item"),
        });

      const findOwned = (gameId: GameId, item: string, itemId: string) =>
        findResource(client, {
          operation: "GamePlatform.hasItem",
          url: `/users/${gameId}/items/${item}/${itemId}`,
          found: Owned,
          absent: refusal("unknown_user"),
        });

      return GamePlatform.of({
        hasUser: flow(findUser, Effect.map(Option.isSome)),
        findProfile,
        findUserByName: (username) =>
          Effect.map(
            findUserByName(username),
            Option.map(({ id }) => GameId.make(id)),
          ),
        findGroup,
        groupMembers,
        findItem,
        hasItem: (gameId, { item, itemId }) =>
          Effect.map(findOwned(gameId, item, itemId), (found) =>
            Option.exists(found, ({ owned }) => owned) ? "owned" : "not_owned",
          ),
      });
    }),
  );
