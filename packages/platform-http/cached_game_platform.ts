/**
 * A game platform whose answers are kept for a short while.
 */
import { type Cache, type GameId, GamePlatform, GameProfile } from "@accountlink/core";
import { Effect, Layer, Option, Schema } from "effect";
import { cachedLookup } from "./cached_lookup.ts";
import { defaultStaleness, type Staleness } from "./staleness.ts";

/**
 * Wraps the game platform that is provided to it.
 *
 * @param overrides ages other than the defaults
 */
export const cachedGamePlatform = (
  overrides: Partial<Staleness> = {},
): Layer.Layer<GamePlatform, never, GamePlatform | Cache> =>
  Layer.effect(
    GamePlatform,
    Effect.gen(function* () {
      const platform = yield* GamePlatform;
      const { profile, absence } = { ...defaultStaleness, ...overrides };

      const hasUser = yield* cachedLookup({
        answer: "game.user",
        entry: (gameId: GameId) => gameId,
        lookup: platform.hasUser,
        schema: Schema.Boolean,
        freshFor: (isThere) => (isThere ? profile : absence),
      });

      const findProfile = yield* cachedLookup({
        answer: "game.profile",
        entry: (gameId: GameId) => gameId,
        lookup: platform.findProfile,
        schema: Schema.OptionFromNullOr(GameProfile),
        freshFor: (found) => (Option.isSome(found) ? profile : absence),
      });

      return GamePlatform.of({ hasUser, findProfile });
    }),
  );
