/**
 * What all routes of another link service have in common. Its interface is imitated, so that bots written for that
 * service work without changes.
 */
import type { PublicError } from "@accountlink/core/errors";
import type { LimitReport } from "@accountlink/core/limits";
import type { Millis } from "@accountlink/core/timestamp";
import type { Schema } from "effect";

/** A header that carries the API key. @internal */
export interface Credential {
  readonly header: "authorization" | "api-key";
  /** The word before the API key; null if the header holds only the API key. */
  readonly scheme: "Bearer" | "Bot" | null;
}

/** The response to a refused request. @internal */
export interface OtherRefusal {
  readonly status: number;
  readonly body: unknown;
}

/** The definition that all routes of a service share. @internal */
export interface OtherService {
  readonly name: string;
  readonly prefix: `/compat/${string}`;
  /** Headers that may carry the API key; the first one present is used. */
  readonly credentials: readonly [Credential, ...ReadonlyArray<Credential>];
  readonly failure: Schema.Top;
  readonly refuse: (error: PublicError) => OtherRefusal;
  /** Rate limit headers of this service, with their descriptions. */
  readonly limitHeaders: Readonly<Record<string, string>>;
  /** Returns the rate limit headers of a response, by the names in `limitHeaders`. */
  readonly limitsOf: (
    limits: LimitReport,
    error: PublicError | null,
    now: Millis,
  ) => Readonly<Record<string, string>>;
}
