/** What the routes of other link services share: their parameters, and the kinds of refusals that they distinguish. */
import type { PublicError } from "@accountlink/core/errors";
import { GuildId, idRules } from "@accountlink/core/ids";
import { Schema } from "effect";
import { statusOf } from "../errors.ts";
import { chatId, gameId, inPath, required } from "../parameter.ts";

export const compatLookup = {
  generation: "compat",
  method: "GET",
  source: "query",
  access: "key",
  keyAccess: ["read", "verify", "game"],
  group: "lookup",
  errors: ["INVALID_PARAMETER", "LINK_NOT_FOUND"],
} as const;

/** The HTTP statuses of three kinds of refusal, for services whose paths contain the guild ID. */
export const guildStatuses = { unlinked: 404, wrong_guild: 403, bot_not_in_guild: 404 };

/** A Roblox ID as a number. */
export const RobloxNumber = Schema.Int.annotate({
  description: "A user whose ID is above 2^53 − 1 is not found",
});

export const guildId = "700000000000000001";

export const discordId = inPath(chatId("ID of the Discord user"));
export const robloxId = inPath(gameId("ID of the Roblox user"));

export const pathGuildId = inPath(
  required(
    GuildId,
    `expected ${idRules.guildId}`,
    "ID of the Discord server; a guild-scoped key must name its own",
  ),
);

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
  if (error._tag === "BadRequest") return badRequestKinds[error.problem];
  if (error._tag !== "Forbidden") return kinds[error._tag] ?? "malformed";
  return forbiddenKinds[error.reason as keyof typeof forbiddenKinds] ?? "forbidden";
};

const kinds: Partial<Record<PublicError["_tag"], RefusalKind>> = {
  LinkNotFound: "unlinked",
  InvalidApiKey: "unauthorized",
  // In a request to the emulated API of another service, only the guild ID can be missing.
  // Only guild-scoped keys must send it.
  MissingParameter: "wrong_guild",
  RateLimited: "rate_limit",
  SharedIpRateLimited: "rate_limit",
  StoreUnavailable: "unavailable",
  PlatformUnavailable: "unavailable",
  InternalError: "internal",
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

type KindStatuses = Partial<Record<RefusalKind, number>>;

export const kindStatus = (error: PublicError, statuses: KindStatuses): number =>
  statuses[refusalKind(error)] ?? statusOf(error);

export const bloxlinkPrefix = "/compat/bloxlink";

const statuses: KindStatuses = {
  unlinked: 404,
  unauthorized: 400,
  wrong_guild: 401,
  bot_not_in_guild: 404,
};

const texts: Partial<Record<RefusalKind, string>> = {
  unauthorized: "Invalid API Key",
  wrong_guild: "Guild ID does not match API Key",
};

/** @param unlinked the message of the error for a user without a link */
export const bloxlinkRefusal = (error: PublicError, unlinked: string) => {
  const kind = refusalKind(error);
  const text = kind === "unlinked" ? unlinked : (texts[kind] ?? error.message);
  return { status: kindStatus(error, statuses), text };
};
