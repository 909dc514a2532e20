/** This service as a client of the simulated OAuth servers. */

import type { Redacted } from "effect";
import type { Resilience } from "../http/mod.ts";

export interface OAuthClient {
  readonly clientId: string;
  readonly clientSecret: Redacted.Redacted;
}

export interface RegisteredClient extends OAuthClient {
  /** The redirect URI of a request must equal one of these URIs exactly. */
  readonly redirectUris: ReadonlyArray<string>;
}

/** Where the dev platform runs, and the OAuth client as which this service signs users in. */
export interface DevIdentityOptions {
  /** The URL of the dev platform, such as `http://127.0.0.1:4000`. */
  readonly baseUrl: string;
  /** The credentials of the client registered at the dev platform. */
  readonly client: OAuthClient;
  readonly resilience?: Partial<Resilience>;
}
