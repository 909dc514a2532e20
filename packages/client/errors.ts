/**
 * The errors of the client: one class, with a union of codes.
 */
import type { RefusalCode, RouteId } from "./contract.ts";

/** A code of the service, or one of the client itself. */
export type ErrorCode = RefusalCode | "NETWORK_ERROR" | "TIMEOUT" | "UNEXPECTED_RESPONSE";

interface WrongParameter {
  readonly name: string;
  readonly reason: string;
}

/** `details` by code. */
export interface ErrorDetails {
  readonly BAD_REQUEST: null;
  readonly MISSING_PARAMETER: { readonly parameters: ReadonlyArray<string> };
  readonly INVALID_PARAMETER: { readonly parameters: ReadonlyArray<WrongParameter> };
  readonly INVALID_BODY: { readonly reason: string } | null;
  readonly INVALID_API_KEY: null;
  readonly FORBIDDEN: {
    readonly reason:
      | "bot_not_in_guild"
      | "user_not_in_guild"
      | "new_user_not_in_guild"
      | "wrong_guild"
      | "ip_not_allowed"
      | "key_access";
  };
  readonly PREMIUM_REQUIRED: null;
  readonly LINK_NOT_FOUND: null;
  readonly SESSION_NOT_FOUND: null;
  readonly SESSION_EXPIRED: null;
  readonly RATE_LIMITED: {
    readonly bucket: "second" | "day" | "verify_day" | "session_create" | "poll_interval" | "poll_count";
  };
  readonly SHARED_IP_RATE_LIMITED: {
    readonly bucket: "ip_second" | "ip_day" | "ip_verify_day" | "ip_auth";
  };
  readonly BULK_LIMIT_EXCEEDED: { readonly limit: number; readonly received: number };
  readonly CONFLICT: {
    readonly reason:
      | "chat_already_linked"
      | "session_completed"
      | "session_failed"
      | "session_cancelled"
      | "idempotency_key_reused"
      | "idempotency_key_in_use"
      | "user_erased";
  };
  readonly INTERNAL_ERROR: null;
  /** No connection, or one that broke. */
  readonly NETWORK_ERROR: null;
  /** No answer within `timeout`. */
  readonly TIMEOUT: null;
  /** An answer that is not the service's, such as the page of a proxy, or a redirect. */
  readonly UNEXPECTED_RESPONSE: null;
}

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
