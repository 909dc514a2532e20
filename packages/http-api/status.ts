/**
 * The HTTP statuses of every error code.
 */
import type { ErrorCode, PublicError } from "@accountlink/core/errors";

/**
 * The statuses of each code: those of its errors.
 *
 * @example
 * ```ts
 * statusesByCode.INTERNAL_ERROR; // [500, 503]
 * ```
 */
export const statusesByCode = {
  BAD_REQUEST: [400, 404, 405, 408, 417, 431],
  MISSING_PARAMETER: [400],
  INVALID_PARAMETER: [400],
  INVALID_BODY: [400, 413, 415],
  INVALID_API_KEY: [401],
  INVALID_SESSION: [401],
  FORBIDDEN: [403],
  PREMIUM_REQUIRED: [403],
  LINK_NOT_FOUND: [404],
  SESSION_NOT_FOUND: [404],
  SESSION_EXPIRED: [410],
  RATE_LIMITED: [429],
  SHARED_IP_RATE_LIMITED: [429],
  BULK_LIMIT_EXCEEDED: [400],
  CONFLICT: [409],
  INTERNAL_ERROR: [500, 503],
} as const satisfies {
  readonly [Code in ErrorCode]: ReadonlyArray<Extract<PublicError, { readonly code: Code }>["status"]>;
};
