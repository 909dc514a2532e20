import { Schema } from "effect";

export const compatLookup = {
  generation: "compat",
  method: "GET",
  source: "query",
  access: "key",
  keyAccess: ["read", "verify"],
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
