/** Sends test requests to the live game platform: Roblox, or a game of one's own. */
import type { GameId, PlatformUnavailable } from "@accountlink/core";
import { reasonOf } from "@accountlink/core/errors";
import { waysWith } from "@accountlink/core/flow";
import type { GameFeatures } from "@accountlink/core/platforms";
import { Effect, Predicate, type Redacted } from "effect";
import type { VariableName } from "../../config/config.ts";
import { neededForWays } from "../../config/needed_for_ways.ts";
import type { LiveGame, OfKind, ResolvedConfig } from "../../config/resolved_config.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

type Live = typeof import("@accountlink/platforms/live");
type InspectedRoute = import("@accountlink/platforms/live").InspectedRoute;

export const checkRoblox = (live: Live, game: OfKind<LiveGame, "roblox">) => [
  live.inspectLiveGamePlatform(game).pipe(
    Effect.match({
      onSuccess: () => ok("game platform", "it answers"),
      onFailure: (error) => unreachable("game platform", error, "ACCOUNTLINK_GAME_API_URL"),
    }),
  ),
  game.apiKey === undefined
    ? Effect.succeed(ok("open cloud", "it is not asked, since ACCOUNTLINK_GAME_API_KEY is not set"))
    : openCloud(live, game, game.apiKey),
];

const openCloud = (live: Live, game: OfKind<LiveGame, "roblox">, apiKey: Redacted.Redacted) =>
  live.inspectOpenCloud({ ...game, apiKey }).pipe(
    Effect.match({
      onSuccess: () => ok("open cloud", "it answers first, then the legacy routes"),
      onFailure: (error) =>
        hasStatus(error, 401, 403)
          ? warn(
              "open cloud",
              "it refuses ACCOUNTLINK_GAME_API_KEY, so the legacy routes answer",
              "Enable the key again, since keys expire after 60 days without use, or make a new one",
            )
          : warn("open cloud", reasonOf(error), "The legacy routes answer meanwhile"),
    }),
  );

export const checkHttpGame = (
  live: Live,
  resolved: ResolvedConfig,
  game: OfKind<LiveGame, "http">,
  gameId: GameId | null,
) =>
  live.inspectHttpGame(game, gameId).pipe(
    Effect.match({
      onSuccess: ({ features, isAllAbsent, routes }): ReadonlyArray<Finding> => [
        ok("game platform", featuresText(features)),
        ...routes.map(routeFinding),
        ...(gameId === null && isAllAbsent ? [maybeWrong] : []),
        gameProofs(resolved, features),
      ],
      onFailure: (error): ReadonlyArray<Finding> => [
        hasStatus(error, 401, 403)
          ? fail("game platform", "it refuses ACCOUNTLINK_GAME_TOKEN", "Set the token that the game expects")
          : unreachable("game platform", error, "ACCOUNTLINK_GAME_URL"),
        gameProofs(resolved, null),
      ],
    }),
  );

const routeFinding = ({ route, answer, isKnown }: InspectedRoute): Finding => {
  if (answer === "absent" && isKnown) {
    return fail("game platform", `${route} answers 404 to what exists`, "Look whether it finds the player");
  }
  return typeof answer === "string"
    ? ok("game platform", `${route} answers${answer === "absent" ? " that there is none" : ""}`)
    : fail("game platform", `${route}: ${reasonOf(answer)}`, "Let it answer as docs/platforms.md says");
};

const maybeWrong = warn(
  "game platform",
  "every answer is 404, so ACCOUNTLINK_GAME_URL may be wrong",
  "Ask for a player that is there: accountlink doctor --game-id <ID>",
);

/** @param features what the game has; null if it is unknown */
export const gameProofs = (resolved: ResolvedConfig, features: GameFeatures | null): Finding => {
  const { gameWays, platform } = resolved;
  const isOwnGame = platform.kind === "live" && platform.game.kind === "http";
  const possible = isOwnGame && features !== null ? waysWith(gameWays, features) : gameWays;
  if (possible.every((way) => way === "known")) {
    return warn(
      "game proofs",
      `no user can prove an account on the pages: ${neededForWays(resolved)}`,
      "Set what is missing, or let the game say who plays, by sessions that name the player",
    );
  }
  const hasOauth = gameWays.includes("oauth") || platform.kind === "dev";
  const notes = [
    `${possible.join(", ")} are on`,
    ...(isOwnGame && gameWays.includes("words")
      ? [`words is offered while the game has names and descriptions`]
      : []),
    ...(hasOauth
      ? []
      : [
          `oauth is off, which needs ${isOwnGame ? "ACCOUNTLINK_GAME_ISSUER" : "ACCOUNTLINK_GAME_CLIENT_ID"}`,
        ]),
  ];
  return ok("game proofs", notes.join("; "));
};

const featuresText = ({ items, ...features }: GameFeatures): string => {
  const has = [
    ...Object.entries(features).flatMap(([name, isThere]) => (isThere ? [name] : [])),
    ...(items.length === 0 ? [] : [`items (${items.join(", ")})`]),
  ];
  return has.length === 0 ? "it answers, and has users alone" : `it answers, and has ${has.join(", ")}`;
};

export const hasStatus = ({ cause }: PlatformUnavailable, ...statuses: ReadonlyArray<unknown>): boolean =>
  Predicate.hasProperty(cause, "status") && statuses.includes(cause.status);

export const unreachable = (check: string, error: PlatformUnavailable, urlVariable: VariableName): Finding =>
  fail(check, reasonOf(error), `Look whether it is down, and how it is reached (${urlVariable}, proxies)`);
