/** This service as a client of the simulated OAuth servers. */

import type { Redacted } from "effect";
import type { Resilience } from "../http/mod.ts";

/** The credentials of an OAuth client. */
export interface OAuthClient {
  readonly clientId: string;
  readonly clientSecret: Redacted.Redacted;
}

export interface RegisteredClient extends OAuthClient {
  /** Redirect URIs must match exactly. */
  readonly redirectUris: ReadonlyArray<string>;
}

/**
 * Options of `devChatIdentity` and `devGameIdentity`.
 *
 * @example
 * ```ts
 * import { ChatIdentity, GameIdentity } from "@accountlink/core";
 * import { Effect, Layer, Redacted } from "effect";
 * import { FetchHttpClient } from "effect/http";
 *
 * const client = { clientId: "accountlink", clientSecret: Redacted.make("secret") };
 * const options = { baseUrl: "http://127.0.0.1:4000", client };
 * const identities = Layer.merge(devChatIdentity(options), devGameIdentity(options));
 * const signIn = {
 *   redirectUri: "http://127.0.0.1:8080/verify/chat/callback",
 *   state: "state",
 *   codeVerifier: "verifier",
 *   nonce: "nonce",
 *   guildId: null,
 * };
 * const program = Effect.gen(function* () {
 *   const [chat, game] = [yield* ChatIdentity, yield* GameIdentity];
 *   const urls = [(yield* chat.begin(signIn)).url, (yield* game.begin(signIn)).url];
 *   return urls.map((url) => new URL(url).pathname);
 * });
 * const paths = Effect.provide(program, Layer.provide(identities, FetchHttpClient.layer));
 * await Effect.runPromise(paths); // ["/chat/oauth/authorize", "/game/oauth/authorize"]
 * ```
 */
export interface DevIdentityOptions {
  /** The URL of the dev platform, such as `http://127.0.0.1:4000`. */
  readonly baseUrl: string;
  /** The credentials of the client registered at the dev platform. */
  readonly client: OAuthClient;
  readonly resilience?: Partial<Resilience>;
}
