/** Asks each route of a game for the doctor, without changing anything. */
import type { GameId, PlatformUnavailable } from "@accountlink/core";
import { type GameFeatures, isSameUsername, noFeatures } from "@accountlink/core/platforms";
import { Effect, Option, Result, type Schema } from "effect";
import type { HttpClient } from "effect/http";
import { resilientClient } from "../../http/mod.ts";
import { ask, gameHost, type Route, type RouteRequest } from "../answers.ts";
import { gameClient, type HttpGameOptions, readFeatures } from "./game_platform.ts";
import { Group, Groups, Owned, User } from "./game_wire.ts";

/** Returns what a game has at present. @internal */
export const httpGameFeatures = (
  options: HttpGameOptions,
): Effect.Effect<GameFeatures, PlatformUnavailable, HttpClient.HttpClient> =>
  gameClient(options).pipe(
    Effect.flatMap((http) => resilientClient(http, "game", options.resilience)),
    Effect.flatMap(readFeatures),
    Effect.scoped,
  );

/** What a route answers to a question. */
export interface InspectedRoute {
  /** Such as `GET /users/{gameId}`. */
  readonly route: string;
  readonly answer: "found" | "absent" | PlatformUnavailable;
  /** Whether the question names what the game has to know: the user that the operator named, or what it told itself. */
  readonly isKnown: boolean;
}

/** What the doctor learns of a game. */
export interface InspectedGame {
  readonly features: GameFeatures;
  /** Whether every answer is 404, as at a wrong address. */
  readonly isAllAbsent: boolean;
  readonly routes: ReadonlyArray<InspectedRoute>;
}

/**
 * Returns what the game has, and how each of its routes answers to questions about a user: by default of the ID and name
 * 1, which few games have. Fails if the game does not tell what it has. @internal
 */
export const inspectHttpGame = (
  options: HttpGameOptions,
  gameId: GameId | null = null,
): Effect.Effect<InspectedGame, PlatformUnavailable, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const client = yield* resilientClient(yield* gameClient(options), "game", options.resilience);
    const features = yield* readFeatures(client);
    const routes: Array<InspectedRoute> = [];
    const inspect = Effect.fnUntraced(function* <A>(
      route: Route,
      question: Pick<RouteRequest<A>, "path" | "query" | "matches"> & {
        readonly found: Schema.ConstraintDecoder<A>;
      },
      isKnown: boolean,
    ) {
      const asked = yield* Effect.result(
        ask(client, route, { operation: "GamePlatform.inspect", ...question }),
      );
      const answer = Result.isFailure(asked)
        ? asked.failure
        : Result.isSuccess(asked.success)
          ? "found"
          : "absent";
      routes.push({ route: route.replace(gameHost, ""), answer, isKnown });
      return Result.isSuccess(asked) ? Option.getOrNull(Result.getSuccess(asked.success)) : null;
    });

    const id = gameId ?? "1";
    const isNamed = gameId !== null;
    const user = yield* inspect(
      "GET your.game/users/{gameId}",
      { path: [id], found: User, matches: (found) => found.id === id },
      isNamed,
    );
    if (features.names) {
      const username = user?.username ?? "1";
      const matches = (found: typeof User.Type) => isSameUsername(found.username, username);
      yield* inspect("GET your.game/users", { query: { username }, found: User, matches }, user !== null);
    }
    if (features.groups) {
      const joined = yield* inspect(
        "GET your.game/users/{gameId}/groups",
        { path: [id], found: Groups },
        user !== null,
      );
      const groupId = joined?.groups[0]?.id;
      const asked = groupId ?? "1";
      yield* inspect(
        "GET your.game/groups/{groupId}",
        { path: [asked], found: Group, matches: (found) => found.id === asked },
        groupId !== undefined,
      );
    }
    const [item] = features.items;
    if (item !== undefined) {
      const path = [id, item, "1"];
      yield* inspect("GET your.game/users/{gameId}/items/{item}/{itemId}", { path, found: Owned }, false);
    }
    const isAllAbsent = features === noFeatures && routes.every(({ answer }) => answer === "absent");
    return { features, isAllAbsent, routes };
  }).pipe(Effect.scoped);
