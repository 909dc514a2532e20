/** The state that the endpoints of one OAuth server share. */
import { Clock, Effect, Option } from "effect";
import { SecureRandom } from "effect/crypto";
import { Base64Url } from "effect/encoding";
import type { RegisteredClient } from "../identities.ts";
import type { Platform } from "../simulation.ts";

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

interface OAuthServerOptions {
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

/** @param lifetime in milliseconds */
const makeTokenStore = Effect.fnUntraced(function* <A>(lifetime: number) {
  const random = yield* SecureRandom.SecureRandom;
  const issued = new Map<string, { readonly value: A; readonly until: number }>();

  const valid = (token: string, now: number): Option.Option<A> => {
    const entry = issued.get(token);
    return entry !== undefined && now < entry.until ? Option.some(entry.value) : Option.none();
  };

  const issue = Effect.fnUntraced(function* (value: A) {
    const token = Base64Url.encode(yield* random.randomBytes(32));
    const now = yield* Clock.currentTimeMillis;
    for (const old of issued.keys()) {
      // All tokens have the same lifetime, so they expire in the order of creation. If this token is valid, all later
      // tokens are valid too.
      if (Option.isSome(valid(old, now))) break;
      issued.delete(old);
    }
    issued.set(token, { value, until: now + lifetime });
    return token;
  });

  /** Returns the value of the token, unless it is unknown or expired. */
  const find = (token: string) => Effect.map(Clock.currentTimeMillis, (now) => valid(token, now));

  /** Like `find`, but also removes the token. */
  const take = (token: string) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      const value = valid(token, now);
      issued.delete(token);
      return value;
    });

  return { lifetime, issue, find, take };
});
