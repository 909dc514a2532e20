import { GameId, GameIdentity } from "@accountlink/core";
import { Layer, type Redacted } from "effect";
import type { HttpClient } from "effect/http";
import { identityProvider } from "../../http/mod.ts";
import type { LiveGamePlatformOptions } from "./game_platform.ts";
import { robloxApi, robloxService } from "./roblox_api.ts";

export interface LiveGameIdentityOptions extends Omit<LiveGamePlatformOptions, "apiKey"> {
  readonly clientId: string;
  readonly clientSecret: Redacted.Redacted;
  /** The page where users sign in. */
  readonly authorizationUrl?: string | undefined;
}

/**
 * Signs game users in at Roblox, by OpenID Connect. The application provides the HTTP client.
 *
 * The only scope is `openid`. The user is the subject of the ID token, whose signature is checked.
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
      // The issuer in Roblox's tokens, whatever `apiUrl` is.
      issuer: "https://apis.roblox.com/oauth/",
      authorizationUrl,
      tokenUrl: `${oauthUrl}/token`,
      clientId,
      clientSecret,
      clientAuthentication: "post",
      scopes: ["openid"],
      proof: { kind: "idToken", jwksUrl: `${oauthUrl}/certs`, algorithms: ["ES256"] },
      userId: GameId,
      resilience,
    }),
  );
};
