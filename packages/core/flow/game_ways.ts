import { Context, Effect } from "effect";
import type { GameProof } from "../links/link_proof.ts";
import { type GameFeatures, GamePlatform, toldFeaturesOf } from "../platforms/game_platform.ts";

/** A way in which users prove a game account on the pages of the flow; `session` is not, since a client names the player. */
export type GameWay = Exclude<GameProof, "session">;

/** Every way, in the order in which pages offer them by default. @internal */
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

/** The ways that can be used at present. @internal */
export interface UsableGameWays {
  readonly ways: ReadonlyArray<GameWay>;
  /** Whether there may be more ways as soon as the game platform has told what it has. */
  readonly isWaiting: boolean;
}

/** Makes the question which ways can be used at present, since a platform may get features while it runs. @internal */
export const makeUsableGameWays: Effect.Effect<
  Effect.Effect<UsableGameWays>,
  never,
  GamePlatform
> = Effect.gen(function* () {
  const platform = yield* GamePlatform;
  const possible = yield* possibleGameWays;
  return Effect.map(toldFeaturesOf(platform), (features) => ({
    ways: waysWith(possible, features),
    isWaiting: features === null && possible.includes("words"),
  }));
});

/** Leaves out the ways whose features a platform has not. @internal */
export const waysWith = (
  ways: ReadonlyArray<GameWay>,
  features: Pick<GameFeatures, "names" | "descriptions"> | null,
): ReadonlyArray<GameWay> =>
  ways.filter((way) => way !== "words" || (features?.names === true && features.descriptions));

/**
 * What a user without an account to choose needs, where no way is open to everybody: a connection at the chat platform,
 * patience until the game platform answers, or a game that names its player, since no other way is possible. Null where
 * everybody has a way. @internal
 */
export type NeededForWay = "connection" | "answer" | "session" | null;

/** Returns what such a user needs. @internal */
export const neededForWay = ({ ways, isWaiting }: UsableGameWays): NeededForWay => {
  if (ways.includes("oauth") || ways.includes("words")) return null;
  if (ways.includes("connection")) return "connection";
  return isWaiting ? "answer" : "session";
};

/**
 * Warns at the start if no way is possible but `session`.
 *
 * @param advice says how to get one
 * @internal
 */
export const warnWithoutWay = (advice: string): Effect.Effect<void, never, GamePlatform> =>
  Effect.flatMap(Effect.flatten(makeUsableGameWays), (usable) =>
    neededForWay(usable) === "session"
      ? Effect.logWarning(`No user can prove a game account on the pages: ${advice}`)
      : Effect.void,
  );
