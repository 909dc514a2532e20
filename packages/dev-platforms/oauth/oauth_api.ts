/** Sign-in at both platforms by OAuth 2.0. */
import { chatUserOfFixture } from "@accountlink/core/fixture";
import type { ChatUser, GameProfile } from "@accountlink/core/platforms";
import { Effect } from "effect";
import { HttpServerRequest } from "effect/http";
import type { RegisteredClient } from "../identities.ts";
import { bearerToken, json, type Platform, platformRoute, refuse, type Simulation } from "../simulation.ts";
import { type Connections, connectionsScope } from "../wire.ts";
import { authorizeEndpoint } from "./authorize_endpoint.ts";
import { makeOAuthServer, type OAuthServer, type SignInUser } from "./oauth_server.ts";
import { tokenEndpoint } from "./token_endpoint.ts";

export type Clients = Partial<Readonly<Record<Platform, RegisteredClient>>>;

/** The routes under `/chat/oauth` and `/game/oauth`, and the routes that show the user of an access token. */
export const oauthApi = Effect.fnUntraced(function* (simulation: Simulation, clients: Clients) {
  const { chatUsers, gameUsers, guilds } = simulation.platforms;
  const chat = yield* makeOAuthServer({
    platform: "chat",
    client: clients.chat,
    users: Array.from(chatUsers.values(), chatSignIn),
  });
  const game = yield* makeOAuthServer({
    platform: "game",
    client: clients.game,
    users: Array.from(gameUsers.values(), gameSignIn),
  });

  const guildsOf = (userId: string) => ({
    guilds: [...guilds.values()].flatMap((guild) => {
      const member = guild.member(userId);
      return member === undefined ? [] : [{ id: guild.id, name: guild.name, manager: member.manager }];
    }),
  });

  const connectionsOf = (userId: string): typeof Connections.Type => ({
    connections: chatUsers.get(userId)?.connections ?? [],
  });

  return [
    ...(yield* authorizeEndpoint(simulation, chat)),
    ...(yield* authorizeEndpoint(simulation, game)),
    yield* tokenEndpoint(simulation, chat),
    yield* tokenEndpoint(simulation, game),
    ofUser(simulation, chat, "", (userId) => {
      const user = chatUsers.get(userId);
      return user && chatUserOfFixture(user);
    }),
    ofUser(simulation, chat, "/guilds", guildsOf),
    ofUser(simulation, chat, "/connections", connectionsOf, connectionsScope),
    ofUser(simulation, game, "", (userId) => ({ id: userId })),
  ];
});

const ofUser = (
  simulation: Simulation,
  { platform, accessTokens }: OAuthServer,
  path: "" | "/guilds" | "/connections",
  body: (userId: string) => unknown,
  scope?: string,
) =>
  platformRoute(
    simulation,
    "GET",
    `/${platform}/api/users/@me${path}`,
    Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => {
      const grant = accessTokens.find(bearerToken(headers));
      const isGranted = grant !== undefined && (scope === undefined || grant.scopes.includes(scope));
      return isGranted ? json(body(grant.userId)) : refuse("unauthorized");
    }),
  );

const chatSignIn = (user: ChatUser): SignInUser => ({ ...user, picture: user.avatar });

const gameSignIn = (user: GameProfile): SignInUser => ({ ...user, picture: user.avatar?.headshot ?? null });
