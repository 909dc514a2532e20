/** Sign-in at both platforms: OAuth 2.0 at the chat platform, OpenID Connect at the game platform. */
import type { ChatUser, GameProfile } from "@accountlink/core/platforms";
import { Effect, Option } from "effect";
import { HttpServerRequest } from "effect/http";
import type { RegisteredClient } from "../identities.ts";
import {
  credentialsAfter,
  json,
  type Platform,
  platformRoute,
  refuse,
  type Simulation,
} from "../simulation.ts";
import { authorizeEndpoint } from "./authorize_endpoint.ts";
import { makeOAuthServer, type SignInUser } from "./oauth_server.ts";
import { makeIdTokens, tokenEndpoint } from "./token_endpoint.ts";

export interface OAuthSettings {
  readonly baseUrl: string;
  readonly clients: Partial<Readonly<Record<Platform, RegisteredClient>>>;
}

/** The routes under `/chat/oauth`, `/game/oauth` and `/chat/api/users/@me`. */
export const oauthApi = Effect.fnUntraced(function* (simulation: Simulation, settings: OAuthSettings) {
  return [...(yield* chatOAuth(simulation, settings)), ...(yield* gameOpenId(simulation, settings))];
});

const chatOAuth = Effect.fnUntraced(function* (simulation: Simulation, { clients }: OAuthSettings) {
  const { chatUsers, guilds } = simulation.platforms;
  const server = yield* makeOAuthServer({
    platform: "chat",
    client: clients.chat,
    scopes: ["identify", "guilds"],
    users: Array.from(chatUsers.values(), chatSignIn),
  });

  const ofUser = (path: "" | `/${string}`, scope: string, body: (userId: string) => unknown) =>
    platformRoute(
      simulation,
      "GET",
      `/chat/api/users/@me${path}`,
      Effect.gen(function* () {
        const { headers } = yield* HttpServerRequest.HttpServerRequest;
        const grant = yield* server.accessTokens.find(credentialsAfter("Bearer", headers));
        return Option.match(
          Option.filter(grant, ({ scopes }) => scopes.includes(scope)),
          { onNone: () => refuse("unauthorized"), onSome: ({ userId }) => json(body(userId)) },
        );
      }),
    );

  const guildsOf = (userId: string) => ({
    guilds: [...guilds.values()].flatMap((guild) => {
      const member = guild.member(userId);
      return member === undefined ? [] : [{ id: guild.id, name: guild.name, manager: member.manager }];
    }),
  });

  return [
    ...(yield* authorizeEndpoint(simulation, server)),
    yield* tokenEndpoint(simulation, server),
    ofUser("", "identify", (userId) => chatUsers.get(userId)),
    ofUser("/guilds", "guilds", guildsOf),
  ];
});

const gameOpenId = Effect.fnUntraced(function* (simulation: Simulation, { baseUrl, clients }: OAuthSettings) {
  const server = yield* makeOAuthServer({
    platform: "game",
    client: clients.game,
    scopes: ["openid"],
    users: Array.from(simulation.platforms.gameUsers.values(), gameSignIn),
  });
  const idTokens = yield* makeIdTokens(`${baseUrl}/game/oauth`);

  return [
    ...(yield* authorizeEndpoint(simulation, server)),
    yield* tokenEndpoint(simulation, server, ({ userId, nonce }, { clientId }) =>
      idTokens.sign({ sub: userId, aud: clientId, nonce }),
    ),
    platformRoute(simulation, "GET", "/game/oauth/jwks", Effect.succeed(json(idTokens.keySet))),
  ];
});

const chatSignIn = (user: ChatUser): SignInUser => ({ ...user, picture: user.avatar });

const gameSignIn = (user: GameProfile): SignInUser => ({ ...user, picture: user.avatar?.headshot ?? null });
