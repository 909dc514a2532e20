/** Reasons and schemas in the `details` of errors, each reason with what a client should do. */
import type { AddressBucket, ConflictReason, ForbiddenReason, KeyBucket } from "@accountlink/core/errors";
import { Schema, Struct } from "effect";

const forbidden = {
  bot_not_in_guild: "Add the bot to the guild, and try again for up to five minutes",
  user_not_in_guild: "Ask the user to join the guild. If they joined now, try again a second later",
  new_user_not_in_guild: "Ask the new user to join the guild. If they joined now, try again a second later",
  wrong_guild: "Name the guild of the key, or use a key of the named guild",
  ip_not_allowed: "Send from an address that the key allows, or change the lists of the key",
  key_access: "Use a key with an access that the route takes, made by somebody who is still an owner",
  not_guild_manager: "Name a guild that a member of the account manages, or use a key of the guild",
} as const satisfies Partial<Record<ForbiddenReason, string>>;

/** The reasons of `Forbidden` errors that only dashboard routes return. */
const dashboardForbidden = {
  account_suspended: "Ask the operator why the account is suspended",
  role: "Ask an owner of the account to do it, or for another role",
  csrf: "Send `Origin`, and as `X-CSRF-Token` the `csrfToken` of `GET /dashboard/api/session`",
} as const satisfies Partial<Record<ForbiddenReason, string>>;

const conflict = {
  chat_already_linked: "Look the new chat ID up, and remove its link first if that is meant",
  session_cancelled: "Create a new session",
  session_completed: "Read the session: the user is linked",
  session_failed: "Create a new session",
  idempotency_key_reused: "Use another [idempotency key](api.md#idempotency-key) for another request",
  idempotency_key_in_use: "Try again a second later",
  user_erased: "Do not repeat what was asked before the user was erased",
  cursor_expired: "[List the links anew](events.md#a-cursor-that-expired)",
  link_limit: "Remove links, or ask the operator for a larger plan",
  blocked: "Nothing: the community [keeps the user out](dashboard.md#who-may-link)",
  game_taken: "Remove the other chat user's link: the community allows one per game account",
  review_limit: "Delete reviews of the user",
} as const satisfies Partial<Record<ConflictReason, string>>;

/** The reasons of `Conflict` errors that only dashboard routes and pages return. */
const dashboardConflict = {
  key_limit: "Revoke a key, or ask the operator for a larger plan",
  key_rate: "Make the key tomorrow",
  import_day: "Go on tomorrow",
  key_revoked: "Make a new key",
  webhook_limit: "Delete a webhook of the community",
  test_limit: "Try again when the deliveries under way have ended",
  name_taken: "Choose another name",
  member_exists: "Change the member's role instead",
  member_limit: "Remove a member",
  last_owner: "Make another member an owner first",
  account_limit: "Leave one of the user's free accounts first",
  guild_has_plan: "Pause or delete the other role plan of the guild",
  plan_changed: "Read the plan again, and edit it anew",
  block_limit: "Remove blocks",
  members_hidden: "Allow the bot the intent of members at the chat platform",
  too_many_members: "Nothing: such a list has at most 100,000 members",
} as const satisfies Partial<Record<ConflictReason, string>>;

const bucket = {
  day: "Wait until midnight UTC, or ask the operator for a larger plan",
  second: "Space the requests of the key as `X-RateLimit-*` says",
  verify_day: "Wait until midnight UTC",
  session_create: "Create sessions more slowly",
  poll_interval: "Read less often, or with `wait` or as a stream",
  poll_count: "Create a new session, and read it with `wait` or as a stream",
  event_readers: "Share a reader: so many of the key wait at once",
  platform_refusals: "Stop sending users or guilds that a platform refuses",
  sweeps: "Wait as long as `Retry-After` says",
  dashboard_day: "Wait until midnight UTC",
  ip_day: "Wait until midnight UTC",
  ip_second: "Space the requests of the address",
  ip_verify_day: "Wait until midnight UTC",
  ip_auth: "Stop sending wrong keys",
} as const satisfies Record<KeyBucket | AddressBucket, string>;

export const forbiddenReasons = Struct.keys(forbidden);
export const conflictReasons = Struct.keys(conflict);

/** The reasons that only routes and pages of the dashboard return. @internal */
export const dashboardReasons = { ...dashboardForbidden, ...dashboardConflict };

/**
 * What a client should do, by the reason of `FORBIDDEN` and `CONFLICT`, and by the limit of a 429. Links are relative to
 * `docs`. @internal
 */
export const reasonAdvice = { ...forbidden, ...conflict, ...dashboardReasons, ...bucket };

/** A reason of `FORBIDDEN` or `CONFLICT`, or the limit of a 429. */
export type Reason = keyof typeof reasonAdvice;

/** The reasons that each code can have. @internal */
export const reasonsByCode = {
  FORBIDDEN: [...forbiddenReasons, ...Struct.keys(dashboardForbidden)],
  CONFLICT: [...conflictReasons, ...Struct.keys(dashboardConflict)],
} as const;

export const InvalidParameters = Schema.Struct({
  parameters: Schema.Array(Schema.Struct({ name: Schema.String, reason: Schema.String })),
}).annotate({ identifier: "InvalidParameters" });
