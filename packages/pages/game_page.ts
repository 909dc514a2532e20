import { type GameId, GamePlatform } from "@accountlink/core";
import { Effect } from "effect";
import { PageSettings } from "./page_settings.ts";

/** Makes the question for a user's page, which the settings or the platform tell; null if the user has none. */
export const makeGamePage = Effect.gen(function* () {
  const { gamePage = null } = yield* PageSettings;
  const { profilePage } = yield* GamePlatform;
  return (gameId: GameId): Effect.Effect<string | null> => {
    if (gamePage !== null) return Effect.succeed(gamePage(gameId));
    return profilePage === undefined
      ? Effect.succeed(null)
      : Effect.orElseSucceed(profilePage(gameId), () => null);
  };
});
