/** The state that the endpoints of one OAuth server share. */
import { Effect } from "effect";
import type { RegisteredClient } from "../oauth_client.ts";
import type { Platform } from "../simulation/platform_route.ts";
import { makeTokenStore } from "./token_store.ts";

/** The access that a user granted to the client. */
export interface Grant {
  readonly userId: string;
  readonly scopes: ReadonlyArray<string>;
  readonly redirectUri: string;
  readonly codeChallenge: string;
  readonly nonce: string | undefined;
}

export interface SignInUser {
  readonly id: string;
  readonly username: string | null;
  readonly displayName: string | null;
  readonly picture: string | null;
}

export interface OAuthServerOptions {
  readonly platform: Platform;
  /** Without a client, nobody can sign in. */
  readonly client: RegisteredClient | undefined;
  readonly scopes: ReadonlyArray<string>;
  readonly users: ReadonlyArray<SignInUser>;
}

export type OAuthServer = Effect.Success<ReturnType<typeof makeOAuthServer>>;

const codeLifetime = 60_000;
const accessTokenLifetime = 600_000;

export const makeOAuthServer = Effect.fnUntraced(function* (options: OAuthServerOptions) {
  const codes = yield* makeTokenStore<Grant>(codeLifetime);
  const accessTokens = yield* makeTokenStore<Grant>(accessTokenLifetime);
  return { ...options, codes, accessTokens };
});
