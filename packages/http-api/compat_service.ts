/** The interface of another link service, which bots that were written for it ask in place of v1 and v2. */
import type { PublicError } from "@accountlink/core/errors";
import type { LimitReport } from "@accountlink/core/limits";
import type { Millis } from "@accountlink/core/timestamp";
import type { Schema } from "effect";
import { statusOf } from "./errors.ts";

/**
 * A header that carries the key.
 *
 * @internal
 */
export interface Credential {
  readonly header: "authorization" | "api-key";
  /** The word before the key; null for a bare one. */
  readonly scheme: "Bearer" | "Bot" | null;
}

/**
 * The answer to a refused request.
 *
 * @internal
 */
export interface CompatRefusal {
  readonly status: number;
  readonly body: unknown;
}

/**
 * What all routes of a service share.
 *
 * @internal
 */
export interface CompatService {
  /** As its users know it. */
  readonly name: string;
  /** Every path of the service is below one of these; the longest that fits counts. */
  readonly prefix: `/compat/${string}`;
  /** Where a request may carry its key; the first header that it has counts. */
  readonly credentials: readonly [Credential, ...ReadonlyArray<Credential>];
  /** The body of a refusal. */
  readonly failure: Schema.Top;
  readonly refuse: (error: PublicError) => CompatRefusal;
  /** Headers of its own that tell what is left of the limits, with their meaning. */
  readonly limitHeaders: Readonly<Record<string, string>>;
  /** The values of these headers, for a key with limits. */
  readonly limitsOf: (
    limits: LimitReport,
    error: PublicError | null,
    now: Millis,
  ) => Readonly<Record<string, string>>;
}

/** What the services tell apart when they refuse. */
export type RefusalKind =
  | "unlinked"
  | "unauthorized"
  | "wrong_guild"
  | "forbidden"
  | "bot_not_in_guild"
  | "rate_limit"
  | "malformed"
  | "unknown_path"
  | "wrong_method"
  | "unavailable"
  | "internal";

/** What an error is to a client that knows no other codes. */
export const refusalKind = (error: PublicError): RefusalKind => {
  switch (error._tag) {
    case "LinkNotFound":
      return "unlinked";
    case "InvalidApiKey":
      return "unauthorized";
    // Only the guild can be missing: a guild key was used on a route or in a request without one.
    case "MissingParameter":
      return "wrong_guild";
    case "Forbidden":
      return forbiddenKinds[error.reason as keyof typeof forbiddenKinds] ?? "forbidden";
    case "RateLimited":
    case "SharedIpRateLimited":
      return "rate_limit";
    case "BadRequest":
      return badRequestKinds[error.problem];
    case "StoreUnavailable":
    case "PlatformUnavailable":
      return "unavailable";
    case "InternalError":
      return "internal";
    default:
      return "malformed";
  }
};

const forbiddenKinds = {
  user_not_in_guild: "unlinked",
  wrong_guild: "wrong_guild",
  bot_not_in_guild: "bot_not_in_guild",
} as const;

const badRequestKinds = {
  unreadable: "malformed",
  not_found: "unknown_path",
  method_not_allowed: "wrong_method",
} as const;

export type KindStatuses = Partial<Record<RefusalKind, number>>;

export const kindStatus = (error: PublicError, statuses: KindStatuses): number =>
  statuses[refusalKind(error)] ?? statusOf(error);
