/** Schemas of the `details` in v2 errors. */
import type { AddressBucket, ForbiddenReason, KeyBucket } from "@accountlink/core/errors";
import { Schema } from "effect";

/** Limits of a key. Examples show the first one. */
export const keyBuckets = [
  "day",
  "second",
  "verify_day",
  "session_create",
  "poll_interval",
  "poll_count",
  "event_readers",
] as const satisfies ReadonlyArray<KeyBucket>;

/** Limits of a client address. Examples show the first one. */
export const addressBuckets = [
  "ip_day",
  "ip_second",
  "ip_verify_day",
  "ip_auth",
] as const satisfies ReadonlyArray<AddressBucket>;

export const forbiddenReasons = [
  "bot_not_in_guild",
  "user_not_in_guild",
  "new_user_not_in_guild",
  "wrong_guild",
  "ip_not_allowed",
  "key_access",
] as const satisfies ReadonlyArray<ForbiddenReason>;

/** Reasons that only dashboard routes use. */
export const dashboardForbiddenReasons = [
  "not_guild_manager",
  "account_suspended",
  "role",
  "csrf",
] as const satisfies ReadonlyArray<ForbiddenReason>;

export const conflictReasons = [
  "chat_already_linked",
  "session_completed",
  "session_failed",
  "session_cancelled",
  "idempotency_key_reused",
  "idempotency_key_in_use",
  "user_erased",
  "cursor_expired",
] as const;

/** Reasons that only dashboard routes use. */
export const dashboardConflictReasons = [
  "key_limit",
  "key_revoked",
  "webhook_limit",
  "test_limit",
  "member_exists",
  "member_limit",
  "last_owner",
  "guild_has_plan",
] as const;

export const InvalidParameters = Schema.Struct({
  parameters: Schema.Array(Schema.Struct({ name: Schema.String, reason: Schema.String })),
}).annotate({ identifier: "InvalidParameters" });
