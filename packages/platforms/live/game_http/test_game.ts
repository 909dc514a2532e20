/** For tests: a small game over HTTP, as `docs/platforms.md` describes it. */
import type { GameId } from "@accountlink/core";
import {
  type HeardRequest,
  type HttpAnswer,
  type HttpAnswering,
  startHttpServer,
} from "@accountlink/test-servers";
import { Effect } from "effect";

/** What the game asks its clients for. */
export const gameToken = "token-of-the-game";

export const player = {
  id: "76561197960287930",
  username: "Ada_G",
  displayName: "Ada",
  profileUrl: "https://play.example/players/76561197960287930",
  avatarUrl: "https://pictures.play.example/ada.png",
  description: "ten quiet maps",
  createdAt: "2012-03-19T05:54:55Z",
  banned: false,
  // Fields that nobody asked for are passed over.
  level: 12,
};

export const playerId = player.id as GameId;

const absent: HttpAnswer = { status: 404 };

const answers: Readonly<Record<string, object>> = {
  "/links/": { features: ["names", "groups", "items", "descriptions", "ages", "weather"], items: ["app"] },
  [`/links/users/${player.id}`]: player,
  [`/links/users/${player.id}/groups`]: { groups: [{ id: "7", name: "Miners", rank: 200, role: "Officer" }] },
  "/links/groups/7": {
    id: "7",
    name: "Miners",
    ranks: [
      { rank: 200, name: "Officer" },
      { rank: 1, name: "Member" },
    ],
  },
  [`/links/users/${player.id}/items/app/55`]: { owned: true },
  [`/links/users/${player.id}/items/app/56`]: { owned: false },
};

/**
 * Starts the game below `/links`.
 *
 * @param instead returns a different answer to a request, or undefined for the usual answer
 */
export const startGame = (instead: (request: HeardRequest) => HttpAnswering | undefined = () => undefined) =>
  Effect.map(
    startHttpServer((request): HttpAnswering => {
      const { path, query, headers } = request;
      if (headers.authorization !== `Bearer ${gameToken}`) return { status: 401 };
      const other = instead(request);
      if (other !== undefined) return other;
      const body =
        path === "/links/users"
          ? query.get("username")?.toLowerCase() === player.username.toLowerCase()
            ? player
            : undefined
          : answers[path];
      return body === undefined ? absent : { body };
    }),
    ({ url, heard }) => ({ url: `${url}/links`, heard }),
  );
