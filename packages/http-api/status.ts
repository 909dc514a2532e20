/**
 * The HTTP status of every error.
 */
import type { ErrorCode, PublicError } from "@accountlink/core/errors";

type Tag = PublicError["_tag"];
type ErrorOf<T extends Tag> = Extract<PublicError, { readonly _tag: T }>;

/** The code of each error, with its status or one for each problem. */
const table = {
  BadRequest: { code: "BAD_REQUEST", status: { unreadable: 400, not_found: 404, method_not_allowed: 405 } },
  MalformedRequest: {
    code: "BAD_REQUEST",
    status: {
      syntax: 400,
      host: 400,
      authorization: 400,
      timeout: 408,
      expectation: 417,
      head_too_large: 431,
    },
  },
  MissingParameter: { code: "MISSING_PARAMETER", status: 400 },
  InvalidParameter: { code: "INVALID_PARAMETER", status: 400 },
  InvalidBody: { code: "INVALID_BODY", status: { content: 400, too_large: 413, content_type: 415 } },
  InvalidApiKey: { code: "INVALID_API_KEY", status: 401 },
  InvalidSession: { code: "INVALID_SESSION", status: 401 },
  Forbidden: { code: "FORBIDDEN", status: 403 },
  PremiumRequired: { code: "PREMIUM_REQUIRED", status: 403 },
  LinkNotFound: { code: "LINK_NOT_FOUND", status: 404 },
  SessionNotFound: { code: "SESSION_NOT_FOUND", status: 404 },
  SessionExpired: { code: "SESSION_EXPIRED", status: 410 },
  RateLimited: { code: "RATE_LIMITED", status: 429 },
  SharedIpRateLimited: { code: "SHARED_IP_RATE_LIMITED", status: 429 },
  BulkLimitExceeded: { code: "BULK_LIMIT_EXCEEDED", status: 400 },
  Conflict: { code: "CONFLICT", status: 409 },
  InternalError: { code: "INTERNAL_ERROR", status: 500 },
  StoreUnavailable: { code: "INTERNAL_ERROR", status: 503 },
  PlatformUnavailable: { code: "INTERNAL_ERROR", status: 503 },
} satisfies {
  [T in Tag]: {
    readonly code: ErrorOf<T>["code"];
    readonly status:
      | number
      | (ErrorOf<T> extends { readonly problem: infer P extends string } ? Record<P, number> : never);
  };
};

/**
 * The HTTP status of an error.
 *
 * @example
 * ```ts
 * import { LinkNotFound } from "@accountlink/core";
 * import { statusOf } from "@accountlink/http-api";
 *
 * statusOf(new LinkNotFound()); // 404
 * ```
 */
export const statusOf = (error: PublicError): number => {
  const status: number | Record<string, number> = table[error._tag].status;
  return typeof status === "number"
    ? status
    : (status[(error as { readonly problem: string }).problem] as number);
};

const statusesOf = (code: ErrorCode): ReadonlyArray<number> => {
  const rows = Object.values(table).filter((row) => row.code === code);
  const statuses = rows.flatMap(({ status }) =>
    typeof status === "number" ? [status] : Object.values(status),
  );
  return [...new Set(statuses)];
};

const codes = [...new Set(Object.values(table).map(({ code }) => code))];

/** The statuses of each code. */
export const statusesByCode = Object.fromEntries(codes.map((code) => [code, statusesOf(code)])) as Readonly<
  Record<ErrorCode, ReadonlyArray<number>>
>;
