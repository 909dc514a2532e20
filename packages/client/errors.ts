/** The errors of the client: one class, with a union of codes. */
import type { RefusalDetails, RouteId } from "./contract.ts";

/** `details` by code. */
export interface ErrorDetails extends RefusalDetails {
  /** No connection, or one that broke. */
  readonly NETWORK_ERROR: null;
  /** No answer within `timeout`. */
  readonly TIMEOUT: null;
  /** An answer that is not the service's, such as the page of a proxy, or a redirect. */
  readonly UNEXPECTED_RESPONSE: null;
}

/** A code of the service, or one of the client itself. */
export type ErrorCode = keyof ErrorDetails;

/** What an error says. */
export interface Failure<Code extends ErrorCode = ErrorCode> {
  readonly code: Code;
  /** For people; it may change. */
  readonly message: string;
  readonly details: ErrorDetails[Code];
  /** The route that was called. */
  readonly route: RouteId;
  /** The HTTP status; null without an answer. */
  readonly status: number | null;
  /** What the operator finds the request by. */
  readonly requestId: string | null;
  /** Seconds after which another try may succeed, as the service said; else null. */
  readonly retryAfter: number | null;
  /** Of a `NETWORK_ERROR`, what `fetch` said. */
  readonly cause?: unknown;
}

class ClientError extends Error {
  override readonly name = "AccountLinkError";
  readonly code: ErrorCode;
  readonly details: ErrorDetails[ErrorCode];
  readonly route: RouteId;
  readonly status: number | null;
  readonly requestId: string | null;
  readonly retryAfter: number | null;

  constructor({ code, message, details, route, status, requestId, retryAfter, cause }: Failure) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
    this.route = route;
    this.status = status;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }

  /** With code, details and request, for logs that write errors as text. */
  override toString(): string {
    const details = this.details === null ? "" : ` ${JSON.stringify(this.details)}`;
    const request = this.requestId === null ? "" : `, request ${this.requestId}`;
    return `${this.name}: ${this.message} (${this.code}${details}${request})`;
  }
}

/**
 * Why a call failed. Its `code` decides what `details` are. Each code of the service has a page of its guide, such as
 * `/guide/errors/LINK_NOT_FOUND.html`, which says what to do.
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

/** The error with one code. */
export interface AccountLinkErrorOf<Code extends ErrorCode> extends Error, Failure<Code> {
  readonly name: "AccountLinkError";
  readonly message: string;
  readonly cause?: unknown;
}

export const AccountLinkError = ClientError as unknown as {
  new (failure: Failure): AccountLinkError;
  // What `instanceof` narrows to, and what it leaves.
  [Symbol.hasInstance](value: unknown): value is AccountLinkError;
};
