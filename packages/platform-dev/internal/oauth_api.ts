/**
 * Sign-in at both platforms: OAuth 2.0 at the chat platform, OpenID Connect at the game platform.
 */
import type { ChatUser, GameProfile } from "@accountlink/core";
import { Effect, Option } from "effect";
import { HttpServerRequest } from "effect/http";
import type { Platform } from "../fault.ts";
import type { RegisteredClient } from "../oauth_client.ts";
import { json, refuse } from "./answers.ts";
import { authorizeEndpoint } from "./authorize_endpoint.ts";
import { bearerToken } from "./credentials.ts";
import { makeIdTokens } from "./id_tokens.ts";
import { makeOAuthServer, type Person } from "./oauth_server.ts";
import { platformRoute, type Stage } from "./platform_route.ts";
import { tokenEndpoint } from "./token_endpoint.ts";

export interface OAuthSettings {
  /** Where the dev platform listens. */
  readonly baseUrl: string;
  readonly clients: Partial<Readonly<Record<Platform, RegisteredClient>>>;
}

/** The routes under `/chat/oauth` and `/game/oauth`, and what an access token of the chat platform is for. */
export const oauthApi = Effect.fnUntraced(function* (stage: Stage, settings: OAuthSettings) {
  return [...(yield* chatOAuth(stage, settings)), ...(yield* gameOpenId(stage, settings))];
});

const chatOAuth = Effect.fnUntraced(function* (stage: Stage, { clients }: OAuthSettings) {
  const { chatUsers } = stage.world;
  const server = yield* makeOAuthServer({
    platform: "chat",
    client: clients.chat,
    scopes: ["identify"],
    people: Array.from(chatUsers.values(), chatPerson),
  });

  const me = Effect.gen(function* () {
    const { headers } = yield* HttpServerRequest.HttpServerRequest;
    const grant = yield* server.accessTokens.find(bearerToken(headers));
    return Option.match(grant, {
      onNone: () => refuse("unauthorized"),
      onSome: ({ userId }) => json(chatUsers.get(userId)),
    });
  });

  return [
    ...(yield* authorizeEndpoint(stage, server)),
    yield* tokenEndpoint(stage, server),
    platformRoute(stage, { platform: "chat", method: "GET", path: "/chat/api/users/@me", answer: me }),
  ];
});

const gameOpenId = Effect.fnUntraced(function* (stage: Stage, { baseUrl, clients }: OAuthSettings) {
  const server = yield* makeOAuthServer({
    platform: "game",
    client: clients.game,
    scopes: ["openid"],
    people: Array.from(stage.world.gameUsers.values(), gamePerson),
  });
  const issuer = `${baseUrl}/game/oauth`;
  const idTokens = yield* makeIdTokens(issuer);

  const document = (path: `/${string}`, body: object) =>
    platformRoute(stage, {
      platform: "game",
      method: "GET",
      path: `/game/oauth${path}`,
      answer: Effect.succeed(json(body)),
    });

  return [
    ...(yield* authorizeEndpoint(stage, server)),
    yield* tokenEndpoint(stage, server, ({ userId, nonce }, { clientId }) =>
      idTokens.sign({ sub: userId, aud: clientId, nonce }),
    ),
    document("/.well-known/openid-configuration", discovery(issuer)),
    document("/jwks", idTokens.keySet),
  ];
});

const discovery = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/jwks`,
  scopes_supported: ["openid"],
  response_types_supported: ["code"],
  grant_types_supported: ["authorization_code"],
  subject_types_supported: ["public"],
  id_token_signing_alg_values_supported: ["ES256"],
  token_endpoint_auth_methods_supported: ["client_secret_basic"],
  code_challenge_methods_supported: ["S256"],
});

const chatPerson = ({ id, username, displayName, avatar }: ChatUser): Person => ({
  id,
  username,
  displayName,
  picture: avatar,
});

const gamePerson = ({ id, username, displayName, avatar }: GameProfile): Person => ({
  id,
  username,
  displayName,
  picture: avatar?.headshot ?? null,
});
