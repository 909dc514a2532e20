/**
 * The errors of the service. Each class has a stable code. `message` and `details` are public, `cause` and `operation`
 * internal. `errors.ts` of http-api says when each error occurs and which HTTP status it has.
 */
import { Data, type Effect, Predicate, Struct } from "effect";
import { type Expected, expectedText } from "./expected.ts";
import type { Millis } from "./timestamp.ts";

export { type Expected, expectedText } from "./expected.ts";

export type ErrorCode = PublicError["code"];

interface WithCause {
  /** The internal cause. Never part of a response. */
  readonly cause?: unknown;
}

/**
 * Makes error classes like `Data.TaggedError`, but without stack traces, for errors that are sent to clients. A stack
 * trace would add a fifth to the time of a lookup.
 */
const Traceless = ((tag: string) => {
  const Tagged = Data.TaggedError(tag) as new (fields: never) => object;
  return class extends Tagged {
    constructor(fields: never) {
      const { stackTraceLimit } = traces;
      traces.stackTraceLimit = 0;
      super(fields);
      traces.stackTraceLimit = stackTraceLimit;
    }
  };
}) as typeof Data.TaggedError;

/** V8 and JavaScriptCore have `stackTraceLimit`; elsewhere setting it has no effect. */
const traces: ErrorConstructor & { stackTraceLimit?: number | undefined } = Error;

/** Broken percent-encoding, an unknown path or ID, or a wrong method. */
export class BadRequest extends Traceless("BadRequest")<{
  readonly problem: "unreadable" | "not_found" | "method_not_allowed";
}> {
  readonly code = "BAD_REQUEST";
  readonly details = null;
  override readonly message = badRequestMessages[this.problem];
}

const badRequestMessages = {
  unreadable: "The request cannot be read: its path or query has broken percent-encoding",
  not_found: "Not found",
  method_not_allowed: "Method not allowed",
};

/** A request that is not valid HTTP/1.1 or did not arrive in time. */
export class MalformedRequest extends Traceless("MalformedRequest")<{
  readonly problem: "syntax" | "host" | "authorization" | "timeout" | "expectation" | "head_too_large";
}> {
  readonly code = "BAD_REQUEST";
  readonly details = null;
  override readonly message = malformedRequestMessages[this.problem];
}

const malformedRequestMessages = {
  syntax: "The request cannot be read: it is not valid HTTP/1.1",
  host: "The request cannot be read: expected one Host header, and no target on another host",
  authorization: "The request cannot be read: expected at most one Authorization header",
  timeout: "The request did not arrive in time",
  expectation: "The expectation of the request cannot be met",
  head_too_large: "The request line and the headers are too large",
} satisfies Record<MalformedRequest["problem"], string>;

/** Required values are missing. The error lists all of them, in documented order. */
export class MissingParameter extends Traceless("MissingParameter")<{
  readonly parameters: ReadonlyArray<string>;
}> {
  readonly code = "MISSING_PARAMETER";
  readonly details = { parameters: this.parameters };
  override readonly message = `Missing required parameters: ${this.parameters.join(", ")}`;
}

/** The name of an invalid value, and the expected value. */
export interface ParameterProblem {
  readonly name: string;
  readonly reason: string;
  /** The reason as a code, for pages in other languages. Answers do not have it. */
  readonly expected?: Expected;
}

/** Says what a value has to be, in English and as a code. @internal */
export const parameterProblem = (name: string, expected: string | Expected): ParameterProblem =>
  typeof expected === "string"
    ? { name, reason: expected }
    : { name, reason: expectedText(expected), expected };

/** Values are wrong, such as an ID with letters or an unknown game user. The error lists all of them. */
export class InvalidParameter extends Traceless("InvalidParameter")<{
  readonly parameters: ReadonlyArray<ParameterProblem>;
}> {
  readonly code = "INVALID_PARAMETER";
  readonly details = { parameters: this.parameters.map(({ name, reason }) => ({ name, reason })) };
  override readonly message =
    `Invalid parameter: ${this.parameters.map(({ name, reason }) => `${name} (${reason})`).join(", ")}`;

  /** The error of a single parameter. */
  static one(name: string, expected: string | Expected): InvalidParameter {
    return new InvalidParameter({ parameters: [parameterProblem(name, expected)] });
  }
}

/** The body is missing, too large, of another type, or not the JSON that the route takes. */
export class InvalidBody extends Traceless("InvalidBody")<
  { readonly problem: "content" | "too_large" | "content_type"; readonly reason: string } & WithCause
> {
  readonly code = "INVALID_BODY";
  readonly details = { reason: this.reason };
  override readonly message = "Invalid request body";
}

/** The key is missing, unknown, expired, revoked or disabled. The response does not say which. */
export class InvalidApiKey extends Traceless("InvalidApiKey")<{
  /** A wrong key counts as a failed authentication, a missing one does not. */
  readonly problem: "missing" | "wrong";
}> {
  readonly code = "INVALID_API_KEY";
  readonly details = null;
  override readonly message = "Unauthorized: missing or invalid API key";
}

/** The dashboard session is missing or expired. */
export class InvalidSession extends Traceless("InvalidSession")<{}> {
  readonly code = "INVALID_SESSION";
  readonly details = null;
  override readonly message = "The session is missing or expired";
}

/** The key or the signed-in user may not do this, for example because the bot is not in the guild. */
export class Forbidden extends Traceless("Forbidden")<{ readonly reason: ForbiddenReason }> {
  readonly code = "FORBIDDEN";
  readonly details = { reason: this.reason };
  override readonly message: string = forbiddenMessages[this.reason];
}

export type ForbiddenReason = keyof typeof forbiddenMessages;

const forbiddenMessages = {
  bot_not_in_guild: "Bot is not in the guild",
  user_not_in_guild: "User is not in the guild",
  new_user_not_in_guild: "New user is not in the guild",
  wrong_guild: "Guild does not match this API key",
  ip_not_allowed: "IP address not allowed",
  key_access: "This API key may not do that",
  not_guild_manager: "Guild is not managed by the account of this API key",
  account_suspended: "The account is suspended",
  role: "Your role in the account does not allow this",
  csrf: "The request does not come from a page of the dashboard",
};

/** The route or parameter requires a Premium key. */
export class PremiumRequired extends Traceless("PremiumRequired")<{}> {
  readonly code = "PREMIUM_REQUIRED";
  readonly details = null;
  override readonly message = "Premium required";
}

/** The scope has no link that matches the request. */
export class LinkNotFound extends Traceless("LinkNotFound")<{}> {
  readonly code = "LINK_NOT_FOUND";
  readonly details = null;
  override readonly message = "No matching link";
}

/** The key has no verification session with the requested sid. */
export class SessionNotFound extends Traceless("SessionNotFound")<{}> {
  readonly code = "SESSION_NOT_FOUND";
  readonly details = null;
  override readonly message = "Verification session not found";
}

/** The session passed its deadline before its user completed it. */
export class SessionExpired extends Traceless("SessionExpired")<{}> {
  readonly code = "SESSION_EXPIRED";
  readonly details = null;
  override readonly message = "Verification session expired";
}

/** The exceeded limit, and when to retry. */
export interface LimitReached<Bucket extends string> {
  readonly bucket: Bucket;
  readonly limit: number;
  readonly resetsAt: Millis;
  /** Whole seconds to wait, at least 1. */
  readonly retryAfter: number;
}

/** The names of the rate limits of a client address. @internal */
export const addressBuckets = ["ip_day", "ip_verify_day", "ip_auth", "ip_second"] as const;

export type AddressBucket = (typeof addressBuckets)[number];

const seconds = (count: number): string => `${count} ${count === 1 ? "second" : "seconds"}`;

/** A limit of the key is exceeded. */
export class RateLimited extends Traceless("RateLimited")<LimitReached<KeyBucket>> {
  readonly code = "RATE_LIMITED";
  readonly details = { bucket: this.bucket };
  override readonly message: string = rateLimitedMessages[this.bucket](this);
}

const rateLimitedMessages = {
  day: ({ limit }) => `Daily request limit of ${limit} exceeded`,
  second: ({ retryAfter }) => `Please wait ${seconds(retryAfter)} before your next request`,
  verify_day: ({ limit }) => `Daily verification limit of ${limit} exceeded`,
  session_create: () => "Too many sessions created",
  poll_interval: ({ retryAfter }) => `Please wait ${seconds(retryAfter)} before the next poll`,
  poll_count: ({ limit }) => `Poll limit of ${limit} reached`,
  event_readers: ({ limit }) => `Limit of ${limit} readers of events that wait at once reached`,
  platform_refusals: ({ limit }) => `A platform refused ${limit} requests that this account caused`,
  sweeps: ({ limit }) => `Limit of ${limit} sweeps of a role plan per hour reached`,
  dashboard_day: ({ limit }) => `Limit of ${limit} changes on the dashboard per day reached`,
} satisfies Record<string, (refusal: LimitReached<string>) => string>;

export type KeyBucket = keyof typeof rateLimitedMessages;

/** The names of the rate limits of a key. @internal */
export const keyBuckets = Struct.keys(rateLimitedMessages);

/** A limit of the client address is exceeded, over all keys that it uses. */
export class SharedIpRateLimited extends Traceless("SharedIpRateLimited")<LimitReached<AddressBucket>> {
  readonly code = "SHARED_IP_RATE_LIMITED";
  readonly details = { bucket: this.bucket };
  override readonly message = "Too many requests from this IP address";
}

/** A bulk request has more than `limit` inputs. Duplicates count. */
export class BulkLimitExceeded extends Traceless("BulkLimitExceeded")<{
  readonly limit: number;
  readonly received: number;
}> {
  readonly code = "BULK_LIMIT_EXCEEDED";
  readonly details = { limit: this.limit, received: this.received };
  override readonly message = `A bulk request takes at most ${this.limit} inputs, received ${this.received}`;
}

/** The request conflicts with stored data, for example because the new chat user already has a link. */
export class Conflict extends Traceless("Conflict")<{ readonly reason: ConflictReason }> {
  readonly code = "CONFLICT";
  readonly details = { reason: this.reason };
  override readonly message: string = conflictMessages[this.reason];
}

export type ConflictReason = keyof typeof conflictMessages;

const conflictMessages = {
  chat_already_linked: "New chat ID already has a link",
  session_completed: "The session is completed",
  session_failed: "The session has failed",
  session_cancelled: "The session is cancelled",
  idempotency_key_reused: "The Idempotency-Key belongs to another request",
  idempotency_key_in_use: "A request with this Idempotency-Key is under way",
  user_erased: "A chat user of the request was erased",
  cursor_expired: "The cursor is older than the kept events",
  link_limit: "The plan allows no more links",
  import_day: "Imports of the account changed as many links as they may in a day",
  blocked: "The chat user or the game user is blocked",
  game_taken: "Another chat user has this game user, and the scope allows one",
  members_hidden: "The chat platform does not list the members of the guild to the bot",
  too_many_members: "The guild has more than 100,000 members, too many to be listed",
  block_limit: "The scope can have no more blocks",
  review_limit: "A user of the pair can have no more reviews",
  key_limit: "The plan allows no more keys",
  key_rate: "The account made too many keys today",
  key_revoked: "The key is revoked",
  webhook_limit: "The scope can have no more webhooks",
  test_limit: "Too many tests are under way",
  name_taken: "Another account has this name",
  member_exists: "The user is already a member",
  member_limit: "The account can have no more members",
  last_owner: "The last owner has to stay",
  account_limit: "The user runs three free accounts already",
  guild_has_plan: "Another role plan of the guild is on",
  plan_changed: "The role plan has changed since it was read",
  account_suspended: "The account is suspended",
};

/** A bug in the service. */
export class InternalError extends Data.TaggedError("InternalError")<WithCause> {
  readonly code = "INTERNAL_ERROR";
  readonly details = null;
  override readonly message = "Internal server error";
}

interface Unavailability extends WithCause {
  /** The failed operation, such as `LinkStore.setGame`. Never part of a response. */
  readonly operation: string;
}

/**
 * A store, counter, cache or signal did not answer. The request can be retried. Stores, counters, caches and signals
 * have no other error.
 */
export class StoreUnavailable extends Data.TaggedError("StoreUnavailable")<
  Unavailability & {
    /**
     * Whether the store's adapter logs the beginning and the end of the outage. If it does, the failed requests are not
     * logged as errors.
     */
    readonly isLogged?: boolean;
  }
> {
  readonly code = "INTERNAL_ERROR";
  readonly details = null;
  override readonly message = "Service unavailable";
}

/** An operation that asks a store, counter, cache or signal, with its other errors `E`. */
export type StoreEffect<A, E = never> = Effect.Effect<A, E | StoreUnavailable>;

/** A platform did not answer. The request can be retried. */
export class PlatformUnavailable extends Data.TaggedError("PlatformUnavailable")<
  Unavailability & {
    /** How long to wait before the next request, in milliseconds. Set if a limit refused the request. */
    readonly retryAfterMs?: number;
    /** The refusal for the client, if the limit belongs to the account and not to the platform. */
    readonly refusal?: RateLimited;
  }
> {
  readonly code = "INTERNAL_ERROR";
  readonly details = null;
  override readonly message = "Service unavailable";

  /** The platform that does not answer. */
  get platform(): "chat" | "game" {
    return this.operation.startsWith("Game") ? "game" : "chat";
  }
}

/** An operation that asks a platform, with its other errors `E`. */
export type PlatformEffect<A, E = never> = Effect.Effect<A, E | PlatformUnavailable>;

/** Returns the error that a response shows: the limit of the account, if it kept a platform from being asked. @internal */
export const shownError = <E>(error: E): E | RateLimited =>
  error instanceof PlatformUnavailable ? (error.refusal ?? error) : error;

/** The message of the innermost cause, which is an error of the database, the file system or the network. @internal */
export const reasonOf = (error: unknown): string => {
  const cause = Predicate.hasProperty(error, "cause") ? error.cause : undefined;
  if (Predicate.hasProperty(cause, "message")) return reasonOf(cause);
  return ownMessage(error) === "" ? String(error) : ownMessage(error);
};

/** The message of the error itself, without its causes; empty if the error has none. @internal */
export const ownMessage = (error: unknown): string =>
  Predicate.hasProperty(error, "message") ? String(error.message) : "";

/**
 * Every error that a response can have.
 *
 * @example
 * ```ts
 * import type { ErrorCode, PublicError } from "@accountlink/core/errors";
 *
 * const refusals = [
 *   new BadRequest({ problem: "not_found" }),
 *   new MalformedRequest({ problem: "syntax" }),
 *   new MissingParameter({ parameters: ["chatId"] }),
 *   InvalidParameter.one("chatId", "expected 5 to 32 digits"),
 *   new InvalidBody({ problem: "content", reason: "expected a JSON object" }),
 *   new InvalidApiKey({ problem: "missing" }),
 *   new InvalidSession(),
 *   new Forbidden({ reason: "bot_not_in_guild" }),
 *   new PremiumRequired(),
 *   new LinkNotFound(),
 *   new SessionNotFound(),
 *   new SessionExpired(),
 *   new RateLimited({ bucket: "second", limit: 1, resetsAt: 2_000, retryAfter: 2 }),
 *   new SharedIpRateLimited({ bucket: "ip_day", limit: 10_000, resetsAt: 86_400_000, retryAfter: 3_600 }),
 *   new BulkLimitExceeded({ limit: 50, received: 51 }),
 *   new Conflict({ reason: "key_limit" }),
 *   new InternalError({}),
 *   new StoreUnavailable({ operation: "LinkStore.setGame" }),
 *   new PlatformUnavailable({ operation: "GamePlatform.user" }),
 * ] satisfies ReadonlyArray<PublicError>;
 * const codes: ReadonlySet<ErrorCode> = new Set(refusals.map(({ code }) => code));
 * codes.size; // 16
 * ```
 */
export type PublicError =
  | BadRequest
  | MalformedRequest
  | MissingParameter
  | InvalidParameter
  | InvalidBody
  | InvalidApiKey
  | InvalidSession
  | Forbidden
  | PremiumRequired
  | LinkNotFound
  | SessionNotFound
  | SessionExpired
  | RateLimited
  | SharedIpRateLimited
  | BulkLimitExceeded
  | Conflict
  | InternalError
  | StoreUnavailable
  | PlatformUnavailable;
