/** Sign-in at the simulated platforms. The application provides the HTTP client. */
import { ChatId, ChatIdentity, GameId, GameIdentity } from "@accountlink/core";
import { UserGuild } from "@accountlink/core/platforms";
import { finderOn, identityProvider, type ResilientClient } from "@accountlink/platforms/http";
import { Effect, Layer, Option, type Redacted, Schema } from "effect";
import type { HttpClient } from "effect/http";
import type { DevGamePlatformOptions } from "./game_platform.ts";
import type { Platform } from "./simulation.ts";
import { Connections, connectionsScope } from "./wire.ts";

export const devChatIdentity = (
  options: DevIdentityOptions,
): Layer.Layer<ChatIdentity, never, HttpClient.HttpClient> => {
  const mine = <A>(client: ResilientClient, list: string, found: Schema.ConstraintDecoder<A>) =>
    Effect.map(
      finderOn(client)("ChatIdentity.finish", `${options.baseUrl}/chat/api/users/@me/${list}`, found),
      Option.getOrThrow,
    );
  return Layer.effect(
    ChatIdentity,
    identityProvider({
      ...clientOf(options, "chat"),
      platform: "chat_sign_in",
      operation: "ChatIdentity.finish",
      guilds: {
        scope: "guilds",
        list: (client) => Effect.map(mine(client, "guilds", Guilds), ({ guilds }) => guilds),
      },
      connections: {
        scope: connectionsScope,
        list: (client) =>
          Effect.map(mine(client, "connections", Connections), ({ connections }) =>
            connections.filter(({ verified }) => verified).map(({ gameId }) => gameId),
          ),
      },
      userId: ChatId,
    }),
  );
};

export const devGameIdentity = (
  options: DevIdentityOptions,
): Layer.Layer<GameIdentity, never, HttpClient.HttpClient> =>
  Layer.effect(
    GameIdentity,
    identityProvider({
      ...clientOf(options, "game"),
      platform: "game_sign_in",
      operation: "GameIdentity.finish",
      userId: GameId,
    }),
  );

const Guilds = Schema.Struct({ guilds: Schema.Array(UserGuild) });

const clientOf = ({ baseUrl, client }: DevIdentityOptions, platform: Platform) => ({
  issuer: `${baseUrl}/${platform}/oauth`,
  authorizationUrl: `${baseUrl}/${platform}/oauth/authorize`,
  tokenUrl: `${baseUrl}/${platform}/oauth/token`,
  ...client,
  clientAuthentication: "post" as const,
  scopes: ["identify"],
  proof: { kind: "userInfo" as const, url: `${baseUrl}/${platform}/api/users/@me` },
});

export interface OAuthClient {
  readonly clientId: string;
  readonly clientSecret: Redacted.Redacted;
}

export interface RegisteredClient extends OAuthClient {
  /** The redirect URI of a request must equal one of these URIs exactly. */
  readonly redirectUris: ReadonlyArray<string>;
}

/** Where the dev platform runs, and the OAuth client as which this service signs users in. */
export interface DevIdentityOptions extends DevGamePlatformOptions {
  /** The credentials of the client registered at the dev platform. */
  readonly client: OAuthClient;
}
