/** Asks each route of a game for the doctor, without changing anything. */
import type { PlatformUnavailable } from "@accountlink/core";
import type { GameFeatures } from "@accountlink/core/platforms";
import { Effect, Result, Schema } from "effect";
import type { HttpClient } from "effect/http";
import { resilientClient } from "../../http/mod.ts";
import { ask, gameHost, type Route } from "../answers.ts";
import { gameClient, type HttpGameOptions, readFeatures } from "./game_platform.ts";
import { Group, Groups, Owned, User } from "./game_wire.ts";

/** What a route answers to a question about the ID or the name 1. */
export interface InspectedRoute {
  /** Such as `GET /users/{gameId}`. */
  readonly route: string;
  readonly failure: PlatformUnavailable | null;
}

/** Returns what the game has, and how each of its routes answers. Fails if it does not tell what it has. @internal */
export const inspectHttpGame = (
  options: HttpGameOptions,
): Effect.Effect<
  { readonly features: GameFeatures; readonly routes: ReadonlyArray<InspectedRoute> },
  PlatformUnavailable,
  HttpClient.HttpClient
> =>
  Effect.gen(function* () {
    const client = yield* resilientClient(yield* gameClient(options), "game", options.resilience);
    const features = yield* readFeatures(client);
    const inspect = <A>(route: Route, found: Schema.ConstraintDecoder<A>, ...path: ReadonlyArray<string>) =>
      Effect.map(
        Effect.result(
          ask(client, route, {
            operation: "GamePlatform.inspect",
            path,
            found,
            ...(path.length === 0 && { query: { username: "1" } }),
          }),
        ),
        (answer): InspectedRoute => ({
          route: route.replace(gameHost, ""),
          failure: Result.isFailure(answer) ? answer.failure : null,
        }),
      );
    const [item] = features.items;
    const routes = yield* Effect.all(
      [
        inspect("GET your.game/users/{gameId}", User, "1"),
        ...(features.names ? [inspect("GET your.game/users", User)] : []),
        ...(features.groups
          ? [
              inspect("GET your.game/users/{gameId}/groups", Groups, "1"),
              inspect("GET your.game/groups/{groupId}", Group, "1"),
            ]
          : []),
        ...(item === undefined
          ? []
          : [inspect("GET your.game/users/{gameId}/items/{item}/{itemId}", Owned, "1", item, "1")]),
      ],
      { concurrency: "unbounded" },
    );
    return { features, routes };
  }).pipe(Effect.scoped);
