/**
 * The routes of RoVer's API. Roblox IDs are numbers.
 *
 * @example
 * ```ts
 * Rover.discordToRoblox.path; // "/compat/rover/api/guilds/:guildId/discord-to-roblox/:discordId"
 * Rover.robloxToDiscord.service === Rover.rover; // true
 * ```
 */
import { ChatId, GuildId } from "@accountlink/core/ids";
import type { Allowance } from "@accountlink/core/limits";
import type { Millis } from "@accountlink/core/timestamp";
import { Schema } from "effect";
import { isRateLimited } from "../errors.ts";
import type { OtherService } from "../other_service.ts";
import { defineRoute } from "../route.ts";
import {
  compatLookup,
  discordId,
  guildId,
  guildStatuses,
  kindStatus,
  pathGuildId,
  type RefusalKind,
  RobloxNumber,
  refusalKind,
  robloxId,
} from "./lookup.ts";

const codes = {
  unlinked: "user_not_found",
  unauthorized: "unauthorized",
  wrong_guild: "forbidden",
  forbidden: "forbidden",
  bot_not_in_guild: "guild_not_found",
  rate_limit: "rate_limit",
  malformed: "bad_request",
  unknown_path: "not_found",
  wrong_method: "method_not_allowed",
  unavailable: "unavailable",
  internal: "internal_error",
} as const satisfies Record<RefusalKind, string>;

export const rover: OtherService = {
  name: "RoVer",
  prefix: "/compat/rover",
  credentials: [{ header: "authorization", scheme: "Bearer" }],
  failure: Schema.Struct({
    errorCode: Schema.Literals([...new Set(Object.values(codes))]),
    message: Schema.String,
  }).annotate({ identifier: "FailureOfRover" }),
  refuse: (error) => {
    const kind = refusalKind(error);
    // RoVer sends one message both for a user without a link and for a user outside the guild.
    const message = kind === "unlinked" ? "User not found" : error.message;
    return { status: kindStatus(error, guildStatuses), body: { errorCode: codes[kind], message } };
  },
  limitHeaders: {
    "X-RateLimit-Bucket": "The limit that the three other headers describe",
    "X-RateLimit-Reset-After": "Seconds until that limit resets, with fractions",
  },
  limitsOf: ({ window, day }, error, now) => {
    if (error !== null && isRateLimited(error)) {
      const { bucket, limit, resetsAt } = error;
      return roverLimits({ bucket, limit, remaining: 0, resetsAt }, now);
    }
    const counted = window ?? day;
    return counted === null ? {} : roverLimits(counted, now);
  },
};

const roverLimits = ({ bucket, limit, remaining, resetsAt }: Allowance, now: Millis) => ({
  "x-ratelimit-bucket": bucket,
  "x-ratelimit-limit": String(limit),
  "x-ratelimit-remaining": String(remaining),
  "x-ratelimit-reset-after": String(Math.max(0, resetsAt - now) / 1000),
});

const lookup = { ...compatLookup, service: rover } as const;

export const discordToRoblox = defineRoute({
  ...lookup,
  id: "roverDiscordToRoblox",
  path: "/compat/rover/api/guilds/:guildId/discord-to-roblox/:discordId",
  summary: "Roblox user of a Discord user",
  parameters: { guildId: pathGuildId, discordId },
  success: Schema.Struct({
    robloxId: RobloxNumber,
    cachedUsername: Schema.String.annotate({ description: "Empty if Roblox does not return it" }),
    discordId: ChatId,
    guildId: GuildId,
  }),
  example: { guildId, discordId: "100001" },
});

export const robloxToDiscord = defineRoute({
  ...lookup,
  id: "roverRobloxToDiscord",
  path: "/compat/rover/api/guilds/:guildId/roblox-to-discord/:robloxId",
  summary: "Discord users of a Roblox user",
  description: "Only the first 25 have names and roles.",
  parameters: { guildId: pathGuildId, robloxId },
  success: Schema.Struct({
    discordUsers: Schema.Array(
      Schema.Struct({
        user: Schema.Struct({ id: ChatId, username: Schema.String }),
        nick: Schema.NullOr(Schema.String),
        roles: Schema.Array(Schema.String),
      }),
    ).annotate({ description: "Newest link first" }),
    robloxId: RobloxNumber,
    guildId: GuildId,
  }),
  example: { guildId, robloxId: "1" },
});
