/** For tests: Roblox's services on one server, with one path prefix each, in the formats that Roblox documents. */
import type { GameId } from "@accountlink/core";
import {
  type HeardRequest,
  type HttpAnswer,
  type HttpAnswering,
  startPlatformServer,
} from "@accountlink/test-servers";
import { Effect } from "effect";

export const ada = {
  description: "Analyst",
  created: "2020-03-19T05:54:55.36Z",
  isBanned: false,
  externalAppDisplayName: null,
  hasVerifiedBadge: true,
  id: 1516563360,
  name: "ada_g",
  displayName: "Ada",
};

export const adaId = "1516563360" as GameId;

export const refused = (status: number, code: number, message: string): HttpAnswer => ({
  status,
  body: { errors: [{ code, message, userFacingMessage: "Something went wrong" }] },
});

const unknownUser = refused(404, 3, "The user id is invalid.");

export const thumbnail = (state: string, imageUrl: string | null): HttpAnswer => ({
  body: { data: [{ targetId: ada.id, state, imageUrl, version: "TN3" }] },
});

const badges = [
  {
    id: 12,
    name: "Veteran",
    description: "A year or more",
    imageUrl: "https://images.rbxcdn.com/b7e6cabb5a1600d813f5843f37181fa3.png",
  },
];

const groups = [
  {
    group: { id: 7, name: "Roblox", memberCount: 123456, hasVerifiedBadge: true },
    role: { id: 30, name: "Admin", rank: 254 },
    isNotificationsEnabled: false,
  },
];

const usersNamed = ({ body }: HeardRequest): HttpAnswer => {
  const { usernames } = JSON.parse(body) as { readonly usernames: ReadonlyArray<string> };
  // Roblox also finds users by their previous names.
  const isNamed = usernames.some((name) => [ada.name, "countess"].includes(name.toLowerCase()));
  return { body: { data: isNamed ? [{ requestedUsername: usernames[0], ...ada }] : [] } };
};

const itemsOfAda = `/inventory/v1/users/${adaId}/items`;

const answers: Readonly<Record<string, HttpAnswer>> = {
  [`/users/v1/users/${adaId}`]: { body: ada },
  "/thumbnails/v1/users/avatar-headshot": thumbnail("Completed", "https://tr.rbxcdn.com/head/420/420/Png"),
  "/thumbnails/v1/users/avatar": thumbnail("Completed", "https://tr.rbxcdn.com/body/420/420/Png"),
  [`/groups/v2/users/${adaId}/groups/roles`]: { body: { data: groups } },
  "/groups/v2/groups": { body: { data: [{ id: 7, name: "Roblox", memberCount: 3 }] } },
  "/groups/v1/groups/7/roles": {
    body: {
      groupId: 7,
      roles: [
        { id: 30, name: "Admin", rank: 254, memberCount: 3 },
        { id: 29, name: "Guest", rank: 0, memberCount: 0 },
      ],
    },
  },
  "/groups/v1/groups/7/users": {
    body: {
      previousPageCursor: null,
      nextPageCursor: "a+b=_1",
      data: [{ user: { userId: ada.id, username: "ada_g" }, role: { id: 30, name: "Admin", rank: 254 } }],
    },
  },
  [`${itemsOfAda}/GamePass/55/is-owned`]: { body: true },
  [`${itemsOfAda}/Badge/56/is-owned`]: { body: false },
  [`${itemsOfAda}/Asset/57/is-owned`]: refused(403, 11, "You don't have permissions to view the inventory."),
  "/apis/game-passes/v1/game-passes/55/product-info": { body: { TargetId: 55, Name: "VIP" } },
  "/badges/v1/badges/56": { body: { id: 56, name: "Welcome", displayName: "Welcome" } },
  "/economy/v2/assets/57/details": { body: { AssetId: 57, Name: "Hat" } },
  [`/accountinformation/v1/users/${adaId}/roblox-badges`]: { body: badges },
};

/** Ada's profile, combined from the responses of this server. */
export const adaProfile = {
  id: adaId,
  username: "ada_g",
  displayName: "Ada",
  description: "Analyst",
  created: "2020-03-19T05:54:55.360Z",
  isBanned: false,
  hasVerifiedBadge: true,
  avatar: {
    headshot: "https://tr.rbxcdn.com/head/420/420/Png",
    fullBody: "https://tr.rbxcdn.com/body/420/420/Png",
  },
  badges,
  groups: [
    {
      id: 7,
      name: "Roblox",
      memberCount: 123456,
      hasVerifiedBadge: true,
      role: { id: 30, name: "Admin", rank: 254 },
    },
  ],
};

/**
 * Starts a server that answers like Roblox.
 *
 * @param instead returns a different answer to a request, or undefined for the usual answer
 */
export const startRoblox = (
  instead: (request: HeardRequest) => HttpAnswering | Promise<HttpAnswering> | undefined = () => undefined,
) =>
  Effect.map(
    startPlatformServer(
      "roblox",
      (path) => path,
      (request) =>
        instead(request) ??
        (request.path === "/users/v1/usernames/users" ? usersNamed(request) : answers[request.path]) ??
        unknownUser,
    ),
    ({ url, heard }) => ({ apiUrl: `${url}/{service}`, heard }),
  );
