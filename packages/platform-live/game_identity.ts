/**
 * Sign-in at Roblox.
 */
import { GameId, GameIdentity } from "@accountlink/core";
import { identityProvider, type Resilience } from "@accountlink/platform-http";
import { Layer, type Redacted } from "effect";
import type { HttpClient } from "effect/http";
import { robloxApi, robloxService } from "./internal/addresses.ts";

export interface LiveGameIdentityOptions {
  readonly clientId: string;
  readonly clientSecret: Redacted.Redacted;
  /** Where Roblox's APIs are, with `{service}` where the name of the service belongs. */
  readonly apiUrl?: string | undefined;
  /** Where the browser goes. */
  readonly authorizationUrl?: string | undefined;
  readonly resilience?: Partial<Resilience>;
}

/**
 * Roblox as the platform at which game users sign in, by OpenID Connect. The application provides the HTTP client.
 *
 * It asks for `openid` and nothing more: the ID token's subject is the user. Its signature is checked.
 */
export const liveGameIdentity = ({
  clientId,
  clientSecret,
  apiUrl = robloxApi,
  authorizationUrl = "https://apis.roblox.com/oauth/v1/authorize",
  resilience = {},
}: LiveGameIdentityOptions): Layer.Layer<GameIdentity, never, HttpClient.HttpClient> => {
  const oauthUrl = `${robloxService(apiUrl, "apis")}/oauth/v1`;
  return Layer.effect(
    GameIdentity,
    identityProvider({
      platform: "game_sign_in",
      operation: "GameIdentity.finish",
      // Signed into the token by Roblox, also when it is reached through another address.
      issuer: "https://apis.roblox.com/oauth/",
      authorizationUrl,
      tokenUrl: `${oauthUrl}/token`,
      clientId,
      clientSecret,
      clientAuthentication: "post",
      scopes: ["openid"],
      proof: { kind: "idToken", jwksUrl: `${oauthUrl}/certs`, algorithm: "ES256" },
      userId: GameId,
      resilience,
    }),
  );
};
