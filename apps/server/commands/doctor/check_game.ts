/** Sends test requests to the live game platform: Roblox, or a game of one's own. */
import type { PlatformUnavailable } from "@accountlink/core";
import type { GameFeatures } from "@accountlink/core/platforms";
import { Effect, Predicate, type Redacted } from "effect";
import type { VariableName } from "../../config/config.ts";
import type { LiveGame } from "../../config/resolved_config.ts";
import { reasonOf } from "../../message_text.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

type Live = typeof import("@accountlink/platforms/live");

export const checkRoblox = (live: Live, game: Extract<LiveGame, { readonly kind: "roblox" }>) => [
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

const openCloud = (
  live: Live,
  game: Extract<LiveGame, { readonly kind: "roblox" }>,
  apiKey: Redacted.Redacted,
) =>
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

export const checkHttpGame = (live: Live, game: Extract<LiveGame, { readonly kind: "http" }>) =>
  live.inspectHttpGame(game).pipe(
    Effect.match({
      onSuccess: ({ features, routes }): ReadonlyArray<Finding> => [
        ok("game platform", featuresText(features)),
        ...routes.map(({ route, failure }) =>
          failure === null
            ? ok("game platform", `${route} answers`)
            : fail(
                "game platform",
                `${route}: ${reasonOf(failure)}`,
                "Let it answer as docs/platforms.md says",
              ),
        ),
      ],
      onFailure: (error): ReadonlyArray<Finding> => [
        hasStatus(error, 401, 403)
          ? fail("game platform", "it refuses ACCOUNTLINK_GAME_TOKEN", "Set the token that the game expects")
          : unreachable("game platform", error, "ACCOUNTLINK_GAME_URL"),
      ],
    }),
  );

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
