/**
 * This service as a client of the simulated OAuth servers.
 */
import type { Resilience } from "@accountlink/platform-http";
import type { Effect, Redacted } from "effect";

/** The client's credentials. */
export interface OAuthClient {
  readonly clientId: string;
  readonly clientSecret: Redacted.Redacted;
}

export interface RegisteredClient extends OAuthClient {
  /**
   * Compared exactly. Evaluated for each request, since a service that listens on a free port
   * learns its own URL only after the platforms have started.
   */
  readonly redirectUris: Effect.Effect<ReadonlyArray<string>>;
}

export interface DevIdentityOptions {
  /** The URL of the dev platform, such as `http://127.0.0.1:4000`. */
  readonly baseUrl: string;
  /** The credentials of the client that is registered there. */
  readonly client: OAuthClient;
  readonly resilience?: Partial<Resilience>;
}
