/**
 * Sign-in at the game platform, as a dev platform plays it: OpenID Connect.
 */
import { GameId, GameIdentity } from "@accountlink/core";
import { identityProvider } from "@accountlink/platform-http";
import { Layer } from "effect";
import type { HttpClient } from "effect/http";
import type { DevIdentityOptions } from "./oauth_client.ts";

/** The service as a client of a dev platform's game platform. The application provides the HTTP client. */
export const devGameIdentity = ({
  baseUrl,
  client,
  resilience = {},
}: DevIdentityOptions): Layer.Layer<GameIdentity, never, HttpClient.HttpClient> =>
  Layer.effect(
    GameIdentity,
    identityProvider({
      platform: "game_sign_in",
      operation: "GameIdentity.finish",
      issuer: `${baseUrl}/game/oauth`,
      authorizationUrl: `${baseUrl}/game/oauth/authorize`,
      tokenUrl: `${baseUrl}/game/oauth/token`,
      ...client,
      clientAuthentication: "basic",
      scopes: ["openid"],
      proof: { kind: "idToken", jwksUrl: `${baseUrl}/game/oauth/jwks`, algorithm: "ES256" },
      userId: GameId,
      resilience,
    }),
  );
