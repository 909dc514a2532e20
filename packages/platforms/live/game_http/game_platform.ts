import { type GameId, GamePlatform, PlatformUnavailable } from "@accountlink/core";
import {
  type GameFeatures,
  type GameItem,
  type ItemOwnership,
  isSameUsername,
  noFeatures,
  type ProfilePart,
  profileParts,
} from "@accountlink/core/platforms";
import { Duration, Effect, flow, Layer, Option, type Redacted, Result, Schedule } from "effect";
import { HttpClient, HttpClientRequest } from "effect/http";
import { RequestFailed, type Resilience, type ResilientClient, resilientClient } from "../../http/mod.ts";
import { ask, gameHost, type Route, type RouteRequest } from "../answers.ts";
import {
  Features,
  Group,
  Groups,
  gameFeatures,
  gameGroups,
  gameProfile,
  isGroupId,
  Owned,
  User,
  webPage,
} from "./game_wire.ts";

/** Where a game answers, as `docs/platforms.md` describes. */
export interface HttpGameOptions {
  /** The address below which the game answers, without a slash at its end. */
  readonly url: string;
  /** What proves this service to the game, in the header `Authorization: Bearer`. */
  readonly token: Redacted.Redacted;
  readonly resilience?: Partial<Resilience>;
}

/** Says what an operator can mend in an answer of the game; null for other failures. */
const toMendIn = (route: Route, { cause }: PlatformUnavailable): string | null => {
  if (!(cause instanceof RequestFailed)) return null;
  const { wrong, reason, status = 0, message } = cause;
  if (wrong !== undefined) return message;
  if (reason !== "status" || status === 429) return null;
  const asked = route.replace(gameHost, "");
  if (status === 401 || status === 403)
    return `Cannot ask the game: it refuses the token at ${asked} (${status})`;
  return status >= 300 && status < 400
    ? `Cannot ask the game: it redirects ${asked} (${status}), and redirects are not followed`
    : `Cannot ask the game: it answers ${asked} with the status ${status}`;
};
/** How often the features are read. */
const readEvery = Duration.minutes(10);

/** How often they are read until the game has answered. */
const retryEvery = Duration.seconds(10);

/** The HTTP client of a game, which puts its address in place of `gameHost`. @internal */
export const gameClient = ({ url, token }: HttpGameOptions) =>
  Effect.map(
    HttpClient.HttpClient,
    HttpClient.mapRequest(
      flow(
        HttpClientRequest.updateUrl((route) => url + route.slice(gameHost.length)),
        HttpClientRequest.bearerToken(token),
        HttpClientRequest.acceptJson,
      ),
    ),
  );

const featuresRoute = "GET your.game/";

const unread = ({ cause }: PlatformUnavailable): string =>
  `Cannot read what the game has: ${cause instanceof RequestFailed ? cause.message : "it did not answer"}`;

/** Reads what the game has. @internal */
export const readFeatures = (client: ResilientClient): Effect.Effect<GameFeatures, PlatformUnavailable> =>
  Effect.map(
    ask(client, featuresRoute, { operation: "GamePlatform.features", found: Features }),
    Result.match({ onSuccess: gameFeatures, onFailure: () => noFeatures }),
  );

/**
 * The game platform port on a game of one's own, over HTTP. Its features are read at the start and every 10 minutes;
 * until the game has answered, it counts as without optional features. The application provides the HTTP client.
 */
export const httpGamePlatform = (
  options: HttpGameOptions,
): Layer.Layer<GamePlatform, never, HttpClient.HttpClient> =>
  Layer.effect(
    GamePlatform,
    Effect.gen(function* () {
      const http = yield* gameClient(options);
      const { resilience } = options;
      // Each part has its own circuit, so that user lookups work while another part is down.
      const users = yield* resilientClient(http, "game", resilience);
      const groups = yield* resilientClient(http, "game_groups", resilience);
      const memberships = yield* resilientClient(http, "game_memberships", resilience);
      const inventory = yield* resilientClient(http, "game_inventory", resilience);

      let features: GameFeatures | null = null;
      const logged = new Set<string>();
      const has = () => features ?? noFeatures;
      /** Fails until the game has told what it has: what it may have is not absent. */
      const told = <A>(operation: string, question: () => Effect.Effect<A, PlatformUnavailable>) =>
        Effect.suspend(() =>
          features === null ? Effect.fail(new PlatformUnavailable({ operation })) : question(),
        );

      /** Logs each text once in a reading of the features, not at every request. */
      const tell = (text: string | null) => {
        if (text === null || logged.has(text)) return Effect.void;
        logged.add(text);
        return Effect.logWarning(text);
      };

      const asked = <const R extends Route, A>(client: ResilientClient, route: R, request: RouteRequest<A>) =>
        Effect.tapError(ask(client, route, request), (error) => tell(toMendIn(route, error)));

      const read = Effect.sync(() => logged.clear()).pipe(
        Effect.andThen(readFeatures(users)),
        Effect.tap((found) => Effect.sync(() => (features = found))),
        Effect.tapError((error) => tell(toMendIn(featuresRoute, error) ?? unread(error))),
        Effect.ignore,
      );
      yield* read;
      yield* Effect.suspend(() => Effect.delay(read, features === null ? retryEvery : readEvery)).pipe(
        Effect.repeat(Schedule.forever),
        Effect.forkScoped,
      );

      const findUser = (operation: string, gameId: GameId) =>
        Effect.map(
          asked(users, "GET your.game/users/{gameId}", {
            operation,
            path: [gameId],
            found: User,
            matches: ({ id }) => id === gameId,
          }),
          Result.getSuccess,
        );

      const groupsOf = (gameId: GameId) =>
        asked(memberships, "GET your.game/users/{gameId}/groups", {
          operation: "GamePlatform.findProfile",
          path: [gameId],
          found: Groups,
        }).pipe(
          Effect.map(Result.match({ onSuccess: gameGroups, onFailure: () => [] })),
          Effect.orElseSucceed(() => null),
        );

      const findProfile = Effect.fnUntraced(function* (
        gameId: GameId,
        needed: ReadonlyArray<ProfilePart> = profileParts,
      ) {
        const user = yield* findUser("GamePlatform.findProfile", gameId);
        if (Option.isNone(user)) return Option.none();
        const isAsked = needed.includes("groups") && has().groups;
        return Option.some(gameProfile(user.value, isAsked ? yield* groupsOf(gameId) : null));
      });

      const findUserByName = (username: string) =>
        has().names
          ? Effect.map(
              asked(users, "GET your.game/users", {
                operation: "GamePlatform.findUserByName",
                query: { username },
                found: User,
                matches: (user) => isSameUsername(user.username, username),
              }),
              (found) => Option.map(Result.getSuccess(found), ({ id }) => id),
            )
          : Effect.succeedNone;

      const findGroup = (groupId: string) =>
        has().groups && isGroupId(groupId)
          ? Effect.map(
              asked(groups, "GET your.game/groups/{groupId}", {
                operation: "GamePlatform.findGroup",
                path: [groupId],
                found: Group,
                matches: ({ id }) => id === groupId,
              }),
              (found) =>
                Option.map(Result.getSuccess(found), ({ id, name, ranks }) => ({
                  id,
                  name,
                  memberCount: null,
                  ranks: ranks.toSorted((one, other) => one.rank - other.rank),
                })),
            )
          : Effect.succeedNone;

      const hasItem = (
        gameId: GameId,
        { item, itemId }: GameItem,
      ): Effect.Effect<ItemOwnership, PlatformUnavailable> =>
        has().items.includes(item)
          ? Effect.map(
              asked(inventory, "GET your.game/users/{gameId}/items/{item}/{itemId}", {
                operation: "GamePlatform.hasItem",
                path: [gameId, item, itemId],
                found: Owned,
              }),
              Result.match({
                onSuccess: ({ owned }) => (owned ? "owned" : "not_owned"),
                onFailure: () => "no_item",
              }),
            )
          : Effect.fail(
              new PlatformUnavailable({
                operation: "GamePlatform.hasItem",
                cause: new Error(`The game has no items "${item}"`),
              }),
            );

      return GamePlatform.of({
        features: Effect.sync(() => features),
        hasUser: (gameId) => Effect.map(findUser("GamePlatform.hasUser", gameId), Option.isSome),
        findProfile,
        findUserByName: (username) => told("GamePlatform.findUserByName", () => findUserByName(username)),
        findDescription: (gameId) =>
          Effect.map(
            findUser("GamePlatform.findDescription", gameId),
            Option.map(({ description }) => description ?? ""),
          ),
        profilePage: (gameId) =>
          Effect.map(
            findUser("GamePlatform.profilePage", gameId),
            Option.match({ onNone: () => null, onSome: ({ profileUrl }) => webPage(profileUrl) }),
          ),
        findGroup: (groupId) => told("GamePlatform.findGroup", () => findGroup(groupId)),
        hasItem: (gameId, item) => Effect.suspend(() => hasItem(gameId, item)),
      });
    }),
  );
