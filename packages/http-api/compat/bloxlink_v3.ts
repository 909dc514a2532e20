/**
 * The routes of Bloxlink's API v3.
 *
 * @example
 * ```ts
 * BloxlinkV3.discordToRoblox.path; // "/compat/bloxlink/developer/discord/:discordId"
 * BloxlinkV3.robloxToDiscord.service === BloxlinkV3.bloxlinkV3; // true
 * ```
 */
import { ChatId, GameId } from "@accountlink/core/ids";
import { Schema } from "effect";
import type { OtherService } from "../other_service.ts";
import { guildId } from "../parameter.ts";
import { defineRoute } from "../route.ts";
import { bloxlinkPrefix, bloxlinkRefusal, compatLookup, discordId, robloxId } from "./lookup.ts";

export const bloxlinkV3: OtherService = {
  name: "Bloxlink v3",
  prefix: `${bloxlinkPrefix}/developer`,
  credentials: [{ header: "api-key", scheme: null }],
  failure: Schema.Struct({ success: Schema.Literal(false), error: Schema.String }).annotate({
    identifier: "FailureOfBloxlinkV3",
  }),
  refuse: (error) => {
    const { status, text } = bloxlinkRefusal(error, "The specified user is not verified.");
    return { status, body: { success: false, error: text } };
  },
  limitHeaders: { "quota-remaining": "Requests left today" },
  limitsOf: ({ day }): Readonly<Record<string, string>> =>
    day === null ? {} : { "quota-remaining": String(day.remaining) },
};

const lookup = {
  ...compatLookup,
  service: bloxlinkV3,
  description: "A guild-scoped key must name its own guild.",
  errors: ["LINK_NOT_FOUND"],
} as const;

const success = <User extends Schema.Top>(user: User) =>
  Schema.Struct({ success: Schema.Literal(true), user });

export const discordToRoblox = defineRoute({
  ...lookup,
  id: "bloxlinkV3DiscordToRoblox",
  path: `${bloxlinkPrefix}/developer/discord/:discordId`,
  summary: "Roblox user of a Discord user",
  parameters: { discordId, guildId: guildId() },
  success: success(Schema.Struct({ robloxId: GameId, primaryAccount: GameId })),
  example: { discordId: "100001" },
});

export const robloxToDiscord = defineRoute({
  ...lookup,
  id: "bloxlinkV3RobloxToDiscord",
  path: `${bloxlinkPrefix}/developer/roblox/:robloxId`,
  summary: "Discord users of a Roblox user",
  parameters: { robloxId, guildId: guildId() },
  success: success(
    Schema.Struct({ discordIds: Schema.Array(ChatId).annotate({ description: "Newest link first" }) }),
  ),
  example: { robloxId: "2" },
});
