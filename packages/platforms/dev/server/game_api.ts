/** The simulated game platform's public API. */

import { platformRoute, type Simulation } from "../simulation/platform_route.ts";
import { userOfName } from "../simulation/platform_state.ts";
import { fromPath, json, type PathHandler, refuse } from "../simulation/responses.ts";
import type { GameUser } from "../wire.ts";

export const gameApi = (simulation: Simulation) => {
  const { gameUsers } = simulation.platforms;
  const route = (path: `/${string}`, handler: PathHandler) =>
    platformRoute(simulation, {
      platform: "game",
      method: "GET",
      path: `/game/api${path}`,
      handler: fromPath(handler),
    });

  return [
    route("/users/by-name/:username", ({ username = "" }) => {
      const user = userOfName(gameUsers, username);
      return user === undefined ? refuse("unknown_user") : json(user);
    }),

    route("/groups/:groupId", ({ groupId = "" }) => {
      const groups = [...gameUsers.values()].flatMap((user) => user.groups ?? []);
      const group = groups.find(({ id }) => String(id) === groupId);
      return group === undefined ? refuse("unknown_group") : json({ id: group.id, name: group.name });
    }),

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
