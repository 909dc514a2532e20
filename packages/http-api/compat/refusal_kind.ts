/** Sorts errors into the kinds of refusals that other link services distinguish. */
import type { PublicError } from "@accountlink/core/errors";
import { statusOf } from "../errors.ts";

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
