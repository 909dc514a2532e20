/**
 * The game platform's API: public, about users only.
 */
import type { GameUser } from "../wire.ts";
import { type Answer, answerFromPath, json, refuse } from "./answers.ts";
import { platformRoute, type Stage } from "./platform_route.ts";

/** The routes under `/game/api`. */
export const gameApi = (stage: Stage) => {
  const { gameUsers } = stage.world;
  const route = (path: `/${string}`, answer: Answer) =>
    platformRoute(stage, {
      platform: "game",
      method: "GET",
      path: `/game/api${path}`,
      answer: answerFromPath(answer),
    });

  return [
    route("/users/:gameId", ({ gameId = "" }) => {
      const user = gameUsers.get(gameId);
      if (user === undefined) return refuse("unknown_user");
      const { id, username, displayName } = user;
      return json({ id, username, displayName } satisfies typeof GameUser.Type);
    }),

    route("/users/:gameId/profile", ({ gameId = "" }) => {
      const user = gameUsers.get(gameId);
      return user === undefined ? refuse("unknown_user") : json(user);
    }),
  ];
};
