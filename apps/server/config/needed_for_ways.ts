import { type GameWay, gameWays } from "@accountlink/core/flow";
import type { ResolvedConfig } from "./resolved_config.ts";

/** Says what each way to prove a game account needs that is not there. */
export const neededForWays = ({ config, gameWays: on, platform }: ResolvedConfig): string => {
  const isOwnGame = platform.kind === "live" && platform.game.kind === "http";
  const needs: Record<Exclude<GameWay, "known">, string | null> = {
    connection:
      config.ACCOUNTLINK_GAME_CONNECTION === null && isOwnGame ? "ACCOUNTLINK_GAME_CONNECTION" : null,
    oauth: isOwnGame
      ? "ACCOUNTLINK_GAME_ISSUER with ACCOUNTLINK_GAME_CLIENT_ID and _SECRET"
      : "ACCOUNTLINK_GAME_CLIENT_ID",
    words: isOwnGame ? "the features names and descriptions of the game" : null,
  };
  return gameWays
    .flatMap((way) => {
      if (way === "known") return [];
      const isNamed = on.includes(way) || config.ACCOUNTLINK_GAME_PROOFS === null;
      const needed = [isNamed ? null : "its name in ACCOUNTLINK_GAME_PROOFS", needs[way]].filter(
        (need) => need !== null,
      );
      return `${way} needs ${needed.join(" and ")}`;
    })
    .join("; ");
};
