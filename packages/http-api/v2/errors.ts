/**
 * The errors of v2, by code.
 */
import type { AddressBucket, ErrorCode, ForbiddenReason, KeyBucket } from "@accountlink/core/errors";
import { Schema } from "effect";

/** Limits of a key. */
export const keyBuckets = [
  "second",
  "day",
  "verify_day",
  "session_create",
  "poll_interval",
  "poll_count",
] as const satisfies ReadonlyArray<KeyBucket>;

/** Limits of a client address. */
export const addressBuckets = [
  "ip_second",
  "ip_day",
  "ip_verify_day",
  "ip_auth",
] as const satisfies ReadonlyArray<AddressBucket>;

const forbiddenReasons = [
  "bot_not_in_guild",
  "user_not_in_guild",
  "new_user_not_in_guild",
  "wrong_guild",
  "ip_not_allowed",
  "key_access",
] as const satisfies ReadonlyArray<ForbiddenReason>;

const conflictReasons = [
  "chat_already_linked",
  "session_completed",
  "session_failed",
  "session_cancelled",
  "idempotency_key_reused",
  "idempotency_key_in_use",
  "user_erased",
] as const;

/** `details` of INVALID_PARAMETER. */
export const InvalidParameters = Schema.Struct({
  parameters: Schema.Array(Schema.Struct({ name: Schema.String, reason: Schema.String })),
}).annotate({ identifier: "InvalidParameters" });

const errorOf = (name: string, code: ErrorCode, meaning: string, details: Schema.Top = Schema.Null) =>
  Schema.Struct({ code: Schema.Literal(code), message: Schema.String, details }).annotate({
    identifier: `${name}Error`,
    description: meaning,
  });

/** The error of each code, with what it means. */
export const errors = {
  BAD_REQUEST: errorOf("BadRequest", "BAD_REQUEST", "The request cannot be read"),
  MISSING_PARAMETER: errorOf(
    "MissingParameter",
    "MISSING_PARAMETER",
    "Required values are missing; `guildId` is required with a guild-scoped key",
    Schema.Struct({ parameters: Schema.Array(Schema.String) }),
  ),
  INVALID_PARAMETER: errorOf(
    "InvalidParameter",
    "INVALID_PARAMETER",
    "Values are wrong, the game user does not exist, or `Service-Version` is unknown",
    InvalidParameters,
  ),
  INVALID_BODY: errorOf(
    "InvalidBody",
    "INVALID_BODY",
    "The body is not the JSON object that the route takes, over 64 KiB, or of another content type",
    Schema.Struct({ reason: Schema.String }),
  ),
  INVALID_API_KEY: errorOf(
    "InvalidApiKey",
    "INVALID_API_KEY",
    "The key is missing, unknown, expired, revoked or disabled",
  ),
  INVALID_SESSION: errorOf(
    "InvalidSession",
    "INVALID_SESSION",
    "The dashboard session is missing or expired",
  ),
  FORBIDDEN: errorOf(
    "Forbidden",
    "FORBIDDEN",
    "The key may not do this",
    Schema.Struct({ reason: Schema.Literals(forbiddenReasons) }),
  ),
  PREMIUM_REQUIRED: errorOf("PremiumRequired", "PREMIUM_REQUIRED", "A Premium key is needed"),
  LINK_NOT_FOUND: errorOf("LinkNotFound", "LINK_NOT_FOUND", "No link in the scope of the key"),
  SESSION_NOT_FOUND: errorOf("SessionNotFound", "SESSION_NOT_FOUND", "No such session of the key"),
  SESSION_EXPIRED: errorOf("SessionExpired", "SESSION_EXPIRED", "The time of the session is over"),
  RATE_LIMITED: errorOf(
    "RateLimited",
    "RATE_LIMITED",
    "The key asked too often",
    Schema.Struct({ bucket: Schema.Literals(keyBuckets) }),
  ),
  SHARED_IP_RATE_LIMITED: errorOf(
    "SharedIpRateLimited",
    "SHARED_IP_RATE_LIMITED",
    "The client address asked too often, whatever its keys",
    Schema.Struct({ bucket: Schema.Literals(addressBuckets) }),
  ),
  BULK_LIMIT_EXCEEDED: errorOf(
    "BulkLimitExceeded",
    "BULK_LIMIT_EXCEEDED",
    "Too many inputs; duplicates count",
    Schema.Struct({ limit: Schema.Int, received: Schema.Int }),
  ),
  CONFLICT: errorOf(
    "Conflict",
    "CONFLICT",
    "The present state, or an earlier request under the idempotency key, is in the way",
    Schema.Struct({ reason: Schema.Literals(conflictReasons) }),
  ),
  INTERNAL_ERROR: errorOf(
    "Internal",
    "INTERNAL_ERROR",
    "500: a bug. 503: a store or platform did not answer; try again after `Retry-After`",
  ),
} satisfies Record<ErrorCode, Schema.Top>;
