import { type Cache, type GameId, GamePlatform } from "@accountlink/core";
import { type GameItem, GameProfile, type ProfilePart, profileParts } from "@accountlink/core/platforms";
import { Effect, Layer, Option, Schema } from "effect";
import { cachedLookup } from "./cached_lookup.ts";
import { defaultStaleness, type Staleness } from "./staleness.ts";

type PartsOfUser = readonly [gameId: GameId, ...parts: ReadonlyArray<ProfilePart>];

type ItemOfUser = readonly [gameId: GameId, item: GameItem["item"], itemId: string];

/**
 * Wraps the provided game platform in a short-lived cache.
 *
 * @param overrides maximum ages that differ from the defaults
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
        lookup: platform.hasUser,
        schema: Schema.Boolean,
        freshFor: (isThere) => (isThere ? profile : absence),
      });

      const findProfile = yield* cachedLookup({
        answer: "game.profile",
        lookup: ([gameId, ...parts]: PartsOfUser) => platform.findProfile(gameId, parts),
        schema: Schema.OptionFromNullOr(GameProfile),
        // Badges or groups are null after a failed request, so ask again soon. A user may have no avatar.
        freshFor: (found, [, ...parts]) =>
          Option.exists(found, (known) => parts.every((part) => part === "avatar" || known[part] !== null))
            ? profile
            : absence,
      });

      const askItem = platform.hasItem;
      const hasItem =
        askItem &&
        (yield* cachedLookup({
          answer: "game.item",
          lookup: ([gameId, item, itemId]: ItemOfUser) => askItem(gameId, { item, itemId }),
          schema: Schema.Literals(["owned", "not_owned", "private"]),
          freshFor: () => profile,
        }));

      return GamePlatform.of({
        ...platform,
        hasUser,
        findProfile: (gameId, parts = profileParts) => findProfile([gameId, ...parts]),
        ...(hasItem && { hasItem: (gameId, { item, itemId }) => hasItem([gameId, item, itemId]) }),
      });
    }),
  );
