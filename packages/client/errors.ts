/** The errors of the client: one class, with a union of codes. */
import type { RefusalDetails, RouteId } from "./contract.ts";

/** The type of `details` for each code. */
export interface ErrorDetails extends RefusalDetails {
  /** The connection failed or broke. */
  readonly NETWORK_ERROR: null;
  /** No response arrived within `timeout`. */
  readonly TIMEOUT: null;
  /** The response does not come from the service: it is a proxy's page or a redirect, for example. */
  readonly UNEXPECTED_RESPONSE: null;
}

export type ErrorCode = keyof ErrorDetails;

export interface Failure<Code extends ErrorCode = ErrorCode> {
  readonly code: Code;
  /** A message for people; its wording may change. */
  readonly message: string;
  readonly details: ErrorDetails[Code];
  readonly route: RouteId;
  /** The HTTP status; null if no response arrived. */
  readonly status: number | null;
  /** The ID by which operators find the request in their logs; null if the response has none. */
  readonly requestId: string | null;
  /** Seconds after which a retry may succeed, as the service said; null if it did not say. */
  readonly retryAfter: number | null;
  /** For `NETWORK_ERROR` and `TIMEOUT`, the underlying error. */
  readonly cause?: unknown;
}

class ClientError extends Error {
  override readonly name = "AccountLinkError";
  declare readonly code: ErrorCode;
  declare readonly details: ErrorDetails[ErrorCode];
  declare readonly requestId: string | null;

  constructor({ message, cause, ...failure }: Failure) {
    super(message, cause === undefined ? undefined : { cause });
    Object.assign(this, failure);
  }

  /** Returns a text with code, details and request ID, for logs that print errors as text. */
  override toString(): string {
    const details = this.details === null ? "" : ` ${JSON.stringify(this.details)}`;
    const request = this.requestId === null ? "" : `, request ${this.requestId}`;
    return `${this.name}: ${this.message} (${this.code}${details}${request})`;
  }
}

/**
 * Why a call failed. `code` determines the type of `details`. Each code of the service has a page in its guide that
 * says what to do, such as `/guide/errors/LINK_NOT_FOUND.html`.
 *
 * @example
 * ```ts
 * import { AccountLinkError, createClient } from "@accountlink/client";
 *
 * const reasonOf = (error: unknown): string => {
 *   if (!(error instanceof AccountLinkError)) throw error;
 *   return error.code === "FORBIDDEN" ? error.details.reason : error.code;
 * };
 *
 * const { links } = createClient({ url: "http://127.0.0.1:1", retryFor: 0 });
 * await links.get("100001").catch(reasonOf); // "NETWORK_ERROR"
 * await links.get("100001").catch(String); // "AccountLinkError: The service cannot be reached (NETWORK_ERROR)"
 * ```
 */
export type AccountLinkError = { readonly [Code in ErrorCode]: AccountLinkErrorOf<Code> }[ErrorCode];

export interface AccountLinkErrorOf<Code extends ErrorCode> extends Error, Failure<Code> {
  readonly name: "AccountLinkError";
  readonly message: string;
  readonly cause?: unknown;
}

export const AccountLinkError = ClientError as unknown as {
  new (failure: Failure): AccountLinkError;
  // With this type guard, `value instanceof AccountLinkError` narrows `value` to the union of the errors of all codes.
  // In the else branch, TypeScript excludes that union from the type of `value`.
  [Symbol.hasInstance](value: unknown): value is AccountLinkError;
};
