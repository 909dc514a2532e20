/**
 * The service, as the OAuth servers of a dev platform know it.
 */
import type { Resilience } from "@accountlink/platform-http";
import type { Effect, Redacted } from "effect";

/** What the service shows when it redeems a code. */
export interface OAuthClient {
  readonly clientId: string;
  readonly clientSecret: Redacted.Redacted;
}

/** A client that may have its users sign in. */
export interface RegisteredClient extends OAuthClient {
  /**
   * Where a browser may be sent back to, each compared as it is written. They are asked for at each request, since a
   * service that listens on a free port learns its own address only after the platforms are there.
   */
  readonly redirectUris: Effect.Effect<ReadonlyArray<string>>;
}

export interface DevIdentityOptions {
  /** Where the dev platform listens, such as `http://127.0.0.1:4000`. */
  readonly baseUrl: string;
  /** The same that is registered there. */
  readonly client: OAuthClient;
  readonly resilience?: Partial<Resilience>;
}
