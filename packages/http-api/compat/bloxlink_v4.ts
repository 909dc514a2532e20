/**
 * The routes of Bloxlink's API v4. Roblox IDs are strings, but numbers in `resolved`, the profiles for Premium keys.
 *
 * @example
 * ```ts
 * BloxlinkV4.globalDiscordToRoblox.path; // "/compat/bloxlink/v4/public/discord-to-roblox/:discordId"
 * const others = [BloxlinkV4.discordToRoblox, BloxlinkV4.robloxToDiscord, BloxlinkV4.globalRobloxToDiscord];
 * others.every(({ service }) => service === BloxlinkV4.bloxlinkV4); // true
 * ```
 */
import { ChatId, GameId } from "@accountlink/core/ids";
import { GameGroup } from "@accountlink/core/platforms";
import { Schema } from "effect";
import type { OtherService } from "../other_service.ts";
import { defineRoute } from "../route.ts";
import {
  bloxlinkPrefix,
  bloxlinkRefusal,
  compatLookup,
  discordId,
  guildId,
  pathGuildId,
  robloxId,
} from "./lookup.ts";

export const bloxlinkV4: OtherService = {
  name: "Bloxlink v4",
  prefix: bloxlinkPrefix,
  credentials: [
    { header: "authorization", scheme: null },
    { header: "api-key", scheme: null },
  ],
  failure: Schema.Struct({ error: Schema.String }).annotate({ identifier: "FailureOfBloxlinkV4" }),
  refuse: (error) => {
    const { status, text } = bloxlinkRefusal(error, "User not found");
    return { status, body: { error: text } };
  },
  limitHeaders: {},
  limitsOf: () => ({}),
};

const Text = Schema.NullOr(Schema.String);
const Flag = Schema.NullOr(Schema.Boolean);

const { role, ...group } = GameGroup.fields;

const RobloxUser = Schema.Struct({
  name: Text,
  displayName: Text,
  id: Schema.Int,
  description: Text,
  created: Text,
  isBanned: Flag,
  hasVerifiedBadge: Flag,
  profileLink: Schema.String,
  avatar: Schema.NullOr(Schema.Struct({ bustThumbnail: Text, headshotThumbnail: Text, fullBody: Text })),
  badges: Schema.NullOr(Schema.Array(Schema.Struct({ ImageUri: Text, Name: Text }))),
  groups: Schema.NullOr(Schema.Array(Schema.Struct({ group: Schema.Struct(group), role }))),
}).annotate({ identifier: "RobloxUserOfBloxlink" });

const DiscordMember = Schema.Struct({
  user: Schema.Struct({ id: Schema.String, username: Text, global_name: Text }),
  nick: Text,
  roles: Schema.Array(Schema.String),
  joined_at: Text,
}).annotate({ identifier: "DiscordMemberOfBloxlink" });

const Roblox = Schema.Struct({
  robloxID: GameId,
  resolved: Schema.Struct({
    roblox: Schema.optionalKey(Schema.NullOr(RobloxUser)),
    discord: Schema.optionalKey(Schema.NullOr(DiscordMember)),
  }).annotate({ description: "Empty without a Premium key; `discord` with a guild only" }),
});

const Discord = Schema.Struct({
  discordIDs: Schema.Array(ChatId).annotate({ description: "Newest link first" }),
  resolved: Schema.Struct({
    discord: Schema.optionalKey(Schema.Record(Schema.String, DiscordMember)),
  }).annotate({
    description: "With a guild and a Premium key, the first 25 members by their ID; else empty",
  }),
});

const lookup = { ...compatLookup, service: bloxlinkV4 } as const;

const toRoblox = {
  ...lookup,
  summary: "Roblox user of a Discord user",
  success: Roblox,
  addsProfiles: true,
} as const;
const toDiscord = { ...lookup, summary: "Discord users of a Roblox user", success: Discord } as const;

const globalKeysOnly = {
  description: "Only for global keys.",
  errors: ["INVALID_PARAMETER", "MISSING_PARAMETER", "LINK_NOT_FOUND"],
} as const;

export const discordToRoblox = defineRoute({
  ...toRoblox,
  id: "bloxlinkV4DiscordToRoblox",
  path: `${bloxlinkPrefix}/v4/public/guilds/:guildId/discord-to-roblox/:discordId`,
  parameters: { guildId: pathGuildId, discordId },
  example: { guildId, discordId: "100001" },
});

export const robloxToDiscord = defineRoute({
  ...toDiscord,
  id: "bloxlinkV4RobloxToDiscord",
  path: `${bloxlinkPrefix}/v4/public/guilds/:guildId/roblox-to-discord/:robloxId`,
  parameters: { guildId: pathGuildId, robloxId },
  example: { guildId, robloxId: "2" },
});

export const globalDiscordToRoblox = defineRoute({
  ...toRoblox,
  ...globalKeysOnly,
  id: "bloxlinkV4GlobalDiscordToRoblox",
  path: `${bloxlinkPrefix}/v4/public/discord-to-roblox/:discordId`,
  parameters: { discordId },
  example: { discordId: "100001" },
});

export const globalRobloxToDiscord = defineRoute({
  ...toDiscord,
  ...globalKeysOnly,
  id: "bloxlinkV4GlobalRobloxToDiscord",
  path: `${bloxlinkPrefix}/v4/public/roblox-to-discord/:robloxId`,
  parameters: { robloxId },
  example: { robloxId: "2" },
});
