/**
 * The routes of RoWifi's API, v3 and v2. Roblox IDs are numbers.
 *
 * @example
 * ```ts
 * Rowifi.memberV3.path; // "/compat/rowifi/v3/guilds/:guildId/members/:discordId"
 * const others = [Rowifi.memberV2, Rowifi.membersOfRobloxV3, Rowifi.membersOfRobloxV2];
 * others.every(({ service }) => service === Rowifi.rowifi); // true
 * ```
 */
import { ChatId, GuildId } from "@accountlink/core/ids";
import { Schema } from "effect";
import type { OtherService } from "../other_service.ts";
import { defineRoute } from "../route.ts";
import {
  compatLookup,
  discordId,
  guildId,
  guildStatuses,
  kindStatus,
  pathGuildId,
  RobloxNumber,
  refusalKind,
  robloxId,
} from "./lookup.ts";

export const rowifi: OtherService = {
  name: "RoWifi",
  prefix: "/compat/rowifi",
  credentials: [{ header: "authorization", scheme: "Bot" }],
  failure: Schema.Struct({ message: Schema.String }).annotate({ identifier: "FailureOfRowifi" }),
  refuse: (error) => ({
    status: kindStatus(error, guildStatuses),
    body: { message: refusalKind(error) === "unlinked" ? "User not found" : error.message },
  }),
  limitHeaders: {},
  limitsOf: () => ({}),
};

const lookup = { ...compatLookup, service: rowifi } as const;

const forward = {
  ...lookup,
  summary: "Roblox user of a member",
  parameters: { guildId: pathGuildId, discordId },
} as const;

const reverse = {
  ...lookup,
  summary: "Members of a Roblox user",
  parameters: { guildId: pathGuildId, robloxId },
} as const;

const member = { discord_id: ChatId, guild_id: GuildId, roblox_id: RobloxNumber };
const consent = { reverse_search_consent: Schema.Literal(true) };

export const memberV3 = defineRoute({
  ...forward,
  id: "rowifiV3Member",
  path: "/compat/rowifi/v3/guilds/:guildId/members/:discordId",
  success: Schema.Struct(member),
  example: { guildId, discordId: "100001" },
});

export const membersOfRobloxV3 = defineRoute({
  ...reverse,
  id: "rowifiV3MembersOfRoblox",
  path: "/compat/rowifi/v3/guilds/:guildId/members/roblox/:robloxId",
  success: Schema.Array(Schema.Struct({ discord_id: ChatId })),
  example: { guildId, robloxId: "1" },
});

export const memberV2 = defineRoute({
  ...forward,
  id: "rowifiV2Member",
  path: "/compat/rowifi/v2/guilds/:guildId/members/:discordId",
  success: Schema.Struct({ ...member, ...consent }),
  example: { guildId, discordId: "100001" },
});

export const membersOfRobloxV2 = defineRoute({
  ...reverse,
  id: "rowifiV2MembersOfRoblox",
  path: "/compat/rowifi/v2/guilds/:guildId/members/roblox/:robloxId",
  success: Schema.Array(Schema.Struct({ discord_id: ChatId, ...consent })),
  example: { guildId, robloxId: "1" },
});
