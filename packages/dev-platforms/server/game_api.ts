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
  foundOr,
  fromPath,
  json,
  type PathHandler,
  platformRoute,
  refuse,
  type Simulation,
  userOfName,
} from "../simulation.ts";

export const gameApi = (simulation: Simulation) => {
  const { gameUsers: usersById, gameGroups } = simulation.platforms;
  const gameUsers = [...usersById.values()];
  type Values = Parameters<PathHandler>[0];

  const route = (path: `/${string}`, handler: PathHandler) =>
    platformRoute(simulation, "GET", `/game/api${path}`, fromPath(handler));

  const ofUser =
    (body: (user: (typeof gameUsers)[number], values: Values) => unknown): PathHandler =>
    (values) => {
      const user = usersById.get(values["gameId"] ?? "");
      return user === undefined ? refuse("unknown_user") : json(body(user, values));
    };

  const itemIn = ({ item, itemId = "" }: Values): GameItem => ({ item: item as GameItem["item"], itemId });

  return [
    route("/users/by-name", ({ username = "" }) => foundOr("unknown_user", userOfName(usersById, username))),

    route("/groups/:groupId", ({ groupId = "" }) =>
      foundOr("unknown_group", groupOfFixture({ gameUsers, gameGroups }, groupId)),
    ),

    route("/groups/:groupId/users", ({ groupId = "", cursor = null }) =>
      json(groupPageOfFixture(gameUsers, groupId, cursor)),
    ),

    route("/items/:item/:itemId", (values) =>
      foundOr("unknown_item", itemOfFixture(gameUsers, itemIn(values))),
    ),

    route(
      "/users/:gameId",
      ofUser(({ id, username, displayName, description }) => ({ id, username, displayName, description })),
    ),

    route("/users/:gameId/profile", ofUser(profileOfFixture)),

    route(
      "/users/:gameId/items/:item/:itemId",
      ofUser((user, values) => ({ owned: ownsItem(user, itemIn(values)) })),
    ),
  ];
};
