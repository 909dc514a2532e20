/** The state that the endpoints of one OAuth server share. */
import { Effect } from "effect";
import { SecureRandom } from "effect/crypto";
import { Base64Url } from "effect/encoding";
import type { RegisteredClient } from "../identities.ts";
import type { Platform } from "../simulation.ts";

type Grant = {
  readonly userId: string;
  readonly redirectUri: string;
  readonly codeChallenge: string;
  readonly scopes: ReadonlyArray<string>;
};

export interface SignInUser {
  readonly id: string;
  readonly username: string | null;
  readonly displayName: string | null;
  readonly picture: string | null;
}

interface OAuthServerOptions {
  readonly platform: Platform;
  /** Without a client, nobody can sign in. */
  readonly client: RegisteredClient | undefined;
  readonly users: ReadonlyArray<SignInUser>;
}

export type OAuthServer = Effect.Success<ReturnType<typeof makeOAuthServer>>;

export const makeOAuthServer = Effect.fnUntraced(function* (options: OAuthServerOptions) {
  return { ...options, codes: yield* makeTokenStore, accessTokens: yield* makeTokenStore };
});

/** How many tokens a store keeps. A new token ends the oldest one. */
const mostTokens = 1_000;

const makeTokenStore = Effect.map(SecureRandom.SecureRandom, (random) => {
  const issued = new Map<string, Grant>();
  return {
    issue: (grant: Grant) =>
      Effect.map(random.randomBytes(32), (bytes) => {
        const token = Base64Url.encode(bytes);
        issued.set(token, grant);
        if (issued.size > mostTokens) issued.delete(issued.keys().next().value as string);
        return token;
      }),

    find: (token: string) => issued.get(token),

    /** Like `find`, but also removes the token. */
    take: (token: string) => {
      const grant = issued.get(token);
      issued.delete(token);
      return grant;
    },
  };
});
