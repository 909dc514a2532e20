/**
 * What the endpoints of one platform's OAuth server share.
 */
import { Effect } from "effect";
import type { SecureRandom } from "effect/crypto";
import type { Platform } from "../fault.ts";
import type { RegisteredClient } from "../oauth_client.ts";
import { makeTickets, type Tickets } from "./tickets.ts";

/** What a user granted to the client. */
export interface Grant {
  readonly userId: string;
  readonly scopes: ReadonlyArray<string>;
  readonly redirectUri: string;
  readonly codeChallenge: string;
  readonly nonce: string | undefined;
}

/** A user, as the page shows one. */
export interface Person {
  readonly id: string;
  readonly username: string | null;
  readonly displayName: string | null;
  /** The address of a picture. */
  readonly picture: string | null;
}

export interface OAuthServerOptions {
  readonly platform: Platform;
  /** Without one nobody can sign in. */
  readonly client: RegisteredClient | undefined;
  /** Those that may be asked for. */
  readonly scopes: ReadonlyArray<string>;
  readonly people: ReadonlyArray<Person>;
}

export interface OAuthServer extends OAuthServerOptions {
  readonly codes: Tickets<Grant>;
  readonly accessTokens: Tickets<Grant>;
}

const codeLifetime = 60_000;
const accessTokenLifetime = 600_000;

export const makeOAuthServer = Effect.fnUntraced(function* (
  options: OAuthServerOptions,
): Effect.fn.Return<OAuthServer, never, SecureRandom.SecureRandom> {
  const codes = yield* makeTickets<Grant>(codeLifetime);
  const accessTokens = yield* makeTickets<Grant>(accessTokenLifetime);
  return { ...options, codes, accessTokens };
});
