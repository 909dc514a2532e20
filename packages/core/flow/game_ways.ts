import { Context, Effect } from "effect";
import type { GameProof } from "../links/link_proof.ts";
import { featuresOf, GamePlatform } from "../platforms/game_platform.ts";

/** A way in which users prove a game account on the pages of the flow; `session` is not, since a client names the player. */
export type GameWay = Exclude<GameProof, "session">;

/** Every way, in the order in which pages offer them by default. */
export const gameWays = ["known", "connection", "oauth", "words"] as const satisfies ReadonlyArray<GameWay>;

/**
 * The ways that are on, in the order in which pages offer them. By default all are on.
 *
 * @example
 * ```ts
 * import { Effect } from "effect";
 *
 * Effect.runSync(GameWays); // ["known", "connection", "oauth", "words"]
 * ```
 */
export const GameWays = Context.Reference<ReadonlyArray<GameWay>>("@accountlink/core/GameWays", {
  defaultValue: () => gameWays,
});

/** The ways that could be used. The way `words` needs a platform that finds users by name and tells their descriptions. @internal */
export const possibleGameWays: Effect.Effect<ReadonlyArray<GameWay>, never, GamePlatform> = Effect.gen(
  function* () {
    const { findUserByName, findDescription } = yield* GamePlatform;
    const isDescribed = findUserByName !== undefined && findDescription !== undefined;
    return (yield* GameWays).filter((way) => way !== "words" || isDescribed);
  },
);

/** Makes the question which ways can be used at present, since a platform may get features while it runs. @internal */
export const makeUsableGameWays: Effect.Effect<
  Effect.Effect<ReadonlyArray<GameWay>>,
  never,
  GamePlatform
> = Effect.gen(function* () {
  const platform = yield* GamePlatform;
  const possible = yield* possibleGameWays;
  return Effect.map(featuresOf(platform), ({ names, descriptions }) =>
    possible.filter((way) => way !== "words" || (names && descriptions)),
  );
});
