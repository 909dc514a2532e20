/** Reasons and schemas in the `details` of errors. */
import type { ConflictReason, ForbiddenReason } from "@accountlink/core/errors";
import { Schema } from "effect";

export const forbiddenReasons = [
  "bot_not_in_guild",
  "user_not_in_guild",
  "new_user_not_in_guild",
  "wrong_guild",
  "ip_not_allowed",
  "key_access",
  "not_guild_manager",
] as const satisfies ReadonlyArray<ForbiddenReason>;

/** The reasons of `Forbidden` errors that only dashboard routes return. */
export const dashboardForbiddenReasons = [
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
  "link_limit",
  "blocked",
  "game_taken",
] as const satisfies ReadonlyArray<ConflictReason>;

/** The reasons of `Conflict` errors that only dashboard routes return. */
export const dashboardConflictReasons = [
  "key_limit",
  "key_rate",
  "import_day",
  "key_revoked",
  "webhook_limit",
  "test_limit",
  "name_taken",
  "member_exists",
  "member_limit",
  "last_owner",
  "account_limit",
  "guild_has_plan",
  "plan_changed",
  "block_limit",
  "members_hidden",
  "too_many_members",
] as const satisfies ReadonlyArray<ConflictReason>;

export const InvalidParameters = Schema.Struct({
  parameters: Schema.Array(Schema.Struct({ name: Schema.String, reason: Schema.String })),
}).annotate({ identifier: "InvalidParameters" });
