/** The simulated game platform's public API. */
import {
  groupOfFixture,
  groupPageOfFixture,
  itemOfFixture,
  ownsItem,
  profileOfFixture,
} from "@accountlink/core/fixture";
import type { GameItem } from "@accountlink/core/platforms";
import {
  fromPath,
  json,
  type PathHandler,
  platformRoute,
  refuse,
  type Simulation,
  userOfName,
} from "../simulation.ts";
import type { GameUser, Owned } from "../wire.ts";

export const gameApi = (simulation: Simulation) => {
  const { gameUsers, gameGroups } = simulation.platforms;
  const route = (path: `/${string}`, handler: PathHandler) =>
    platformRoute(simulation, "GET", `/game/api${path}`, fromPath(handler));

  return [
    route("/users/by-name/:username", ({ username = "" }) => {
      const user = userOfName(gameUsers, username);
      return user === undefined ? refuse("unknown_user") : json(profileOfFixture(user));
    }),

    route("/groups/:groupId", ({ groupId = "" }) => {
      const group = groupOfFixture({ gameUsers: [...gameUsers.values()], gameGroups }, groupId);
      return group === undefined ? refuse("unknown_group") : json(group);
    }),

    route("/groups/:groupId/users", ({ groupId = "", cursor = null }) =>
      json(groupPageOfFixture([...gameUsers.values()], groupId, cursor)),
    ),

    route("/items/:item/:itemId", ({ item, itemId = "" }) => {
      const found = itemOfFixture([...gameUsers.values()], { item: item as GameItem["item"], itemId });
      return found === undefined ? refuse("unknown_item") : json(found);
    }),

    route("/users/:gameId", ({ gameId = "" }) => {
      const user = gameUsers.get(gameId);
      if (user === undefined) return refuse("unknown_user");
      const { id, username, displayName } = user;
      return json({ id, username, displayName } satisfies typeof GameUser.Type);
    }),

    route("/users/:gameId/profile", ({ gameId = "" }) => {
      const user = gameUsers.get(gameId);
      return user === undefined ? refuse("unknown_user") : json(profileOfFixture(user));
    }),

    route("/users/:gameId/items/:item/:itemId", ({ gameId = "", item = "", itemId = "" }) => {
      const user = gameUsers.get(gameId);
      if (user === undefined) return refuse("unknown_user");
      return json({
        owned: ownsItem(user, { item: item as GameItem["item"], itemId }),
      } satisfies typeof Owned.Type);
    }),
  ];
};
