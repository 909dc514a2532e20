/**
 * The HTTP status of every error.
 */
import type { ErrorCode, PublicError } from "@accountlink/core/errors";

const statusByTag = {
  BadRequest: ({ problem }) => ({ unreadable: 400, not_found: 404, method_not_allowed: 405 })[problem],
  MissingParameter: () => 400,
  InvalidParameter: () => 400,
  InvalidBody: ({ problem }) => ({ content: 400, too_large: 413, content_type: 415 })[problem],
  InvalidApiKey: () => 401,
  InvalidSession: () => 401,
  Forbidden: () => 403,
  PremiumRequired: () => 403,
  LinkNotFound: () => 404,
  SessionNotFound: () => 404,
  SessionExpired: () => 410,
  RateLimited: () => 429,
  SharedIpRateLimited: () => 429,
  BulkLimitExceeded: () => 400,
  Conflict: () => 409,
  InternalError: () => 500,
  StoreUnavailable: () => 503,
  PlatformUnavailable: () => 503,
} satisfies { [Tag in PublicError["_tag"]]: (error: Extract<PublicError, { _tag: Tag }>) => number };

/**
 * The status that an error is answered with.
 *
 * @example
 * ```ts
 * import { LinkNotFound } from "@accountlink/core";
 *
 * statusOf(new LinkNotFound()); // 404
 * ```
 */
export const statusOf = (error: PublicError): number =>
  (statusByTag[error._tag] as (error: PublicError) => number)(error);

/** The statuses that a code can come with, for the documentation. */
export const statusesByCode = {
  BAD_REQUEST: [400, 404, 405],
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
} satisfies Record<ErrorCode, ReadonlyArray<number>>;
