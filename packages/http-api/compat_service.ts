/** The interface of another link service, so that bots written for that service work without changes. */
import type { PublicError } from "@accountlink/core/errors";
import type { LimitReport } from "@accountlink/core/limits";
import type { Millis } from "@accountlink/core/timestamp";
import type { Schema } from "effect";
import { statusOf } from "./errors.ts";

/** A header that carries the API key. @internal */
export interface Credential {
  readonly header: "authorization" | "api-key";
  /** The word before the API key; null if the header holds only the API key. */
  readonly scheme: "Bearer" | "Bot" | null;
}

/** The response to a refused request. @internal */
export interface CompatRefusal {
  readonly status: number;
  readonly body: unknown;
}

/** The definition that all routes of a service share. @internal */
export interface CompatService {
  readonly name: string;
  readonly prefix: `/compat/${string}`;
  /** Headers that may carry the API key; the first one present is used. */
  readonly credentials: readonly [Credential, ...ReadonlyArray<Credential>];
  readonly failure: Schema.Top;
  readonly refuse: (error: PublicError) => CompatRefusal;
  /** Rate limit headers of this service, with their descriptions. */
  readonly limitHeaders: Readonly<Record<string, string>>;
  /** Returns the rate limit headers of a response, by the names in `limitHeaders`. */
  readonly limitsOf: (
    limits: LimitReport,
    error: PublicError | null,
    now: Millis,
  ) => Readonly<Record<string, string>>;
}

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

/** Maps an error to a kind of refusal. Other link services distinguish only these kinds, not the codes of v2. */
export const refusalKind = (error: PublicError): RefusalKind => {
  switch (error._tag) {
    case "LinkNotFound":
      return "unlinked";
    case "InvalidApiKey":
      return "unauthorized";
    // In a request to the emulated API of another service, only the guild ID can be missing.
    // Only guild-scoped keys must send it.
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
