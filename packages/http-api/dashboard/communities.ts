/**
 * Dashboard routes for the data scopes of an account and their links.
 *
 * @example
 * ```ts
 * const ofLinks = [DashboardCommunities.getLinks, DashboardCommunities.putLink, DashboardCommunities.deleteLink];
 * new Set(ofLinks.map(pathTemplate)).size; // 1
 * const ofScopes = [DashboardCommunities.getScopes, DashboardCommunities.getScope, DashboardCommunities.patchScope];
 * [...ofScopes, DashboardCommunities.deleteScope].every(({ access }) => access === "session"); // true
 * const ofCommunity = [DashboardCommunities.getCommunity, DashboardCommunities.getUnlinked, DashboardCommunities.restoreLink];
 * ofCommunity.every(({ role }) => role === "moderator"); // true
 * ```
 */

import { pauseReasons } from "@accountlink/core/communities";
import { ChatId, GameId, GuildId, Pid } from "@accountlink/core/ids";
import { scopeSettings } from "@accountlink/core/keys";
import { ChatProfile, GameProfile } from "@accountlink/core/platforms";
import { schemasOf } from "@accountlink/core/settings";
import { Schema } from "effect";
import { IsoTime } from "../iso_time.ts";
import { chatId, gameId, ownGuildId, reason, required, trueOrFalse, withFallback } from "../parameter.ts";
import { deleteGame, patchGame } from "../v2/writes.ts";
import {
  confirm,
  demoGuild,
  longestSearch,
  managed,
  nextOf,
  Place,
  pageLimit,
  pid,
  pidInPath,
  settingParameters,
  signedIn,
} from "./signed_in.ts";

const search = withFallback(
  required(
    Schema.String.check(Schema.isMaxCodePoints(longestSearch)),
    { is: "characters", most: longestSearch },
    "A chat ID, a game ID, or an exact user name of either platform; in a guild also the beginning of a member's name",
  ),
  "",
);

const Text = Schema.NullOr(Schema.String);

const Scope = Schema.Struct({
  pid: Pid,
  scope: Schema.Literals(["global", "guild"]),
  guildId: Schema.NullOr(GuildId),
  name: Text,
  links: Schema.Int,
  keys: Schema.Int,
  settings: Schema.Struct(schemasOf(scopeSettings)),
});

export const getScopes = signedIn("moderator", "GET", "/scopes", {
  id: "getScopes",
  summary: "The data scopes of the account",
  parameters: {},
  data: { scopes: Schema.Array(Scope) },
});

export const getScope = managed("moderator", "GET", "/scopes/:pid", {
  id: "getScope",
  summary: "One data scope of the account",
  parameters: { pid: pidInPath },
  data: { scope: Scope },
});

const Community = Schema.Struct({
  pid: Pid,
  guildId: Schema.NullOr(GuildId),
  name: Text,
  bot: Schema.NullOr(Schema.Boolean),
  rights: Schema.Struct({
    roles: Schema.NullOr(Schema.Boolean),
    nicknames: Schema.NullOr(Schema.Boolean),
  }),
  linked: Schema.Int,
  members: Schema.NullOr(Schema.Int),
  rules: Schema.Literals(["on", "paused", "none"]),
  pausedFor: Schema.NullOr(Schema.Literals(pauseReasons)),
  logChannelId: Text,
  panel: Schema.NullOr(Schema.Struct({ channelId: Schema.String, messageId: Schema.String })),
  lastSweepAt: Schema.NullOr(IsoTime),
  problems: Schema.Int,
  likelyAlts: Schema.Int,
  settings: Scope.fields.settings,
});

export const getCommunity = managed("moderator", "GET", "/communities/:pid", {
  id: "getCommunity",
  summary:
    "The state of a community: links, rules, bot, panel, problems and likely alts; unknown parts are null",
  parameters: { pid: pidInPath },
  data: { community: Community },
});

export const patchScope = managed("admin", "PATCH", "/scopes/:pid", {
  id: "patchScope",
  summary: "Change the texts that users read when they verify, and how old their accounts must be",
  parameters: { pid: pidInPath, ...settingParameters(scopeSettings) },
  example: { displayName: "Chess Club", supportUrl: "https://chess.example/help", minGameAgeDays: 30 },
  data: { scope: Scope },
});

export const deleteScope = signedIn("owner", "DELETE", "/scopes/:pid", {
  id: "deleteScope",
  summary: "Delete the data of a community; its keys and settings stay",
  parameters: {
    pid: pidInPath,
    confirm,
    keepBlocks: withFallback(
      required(
        Schema.Boolean,
        trueOrFalse,
        "Whether the users whom the community keeps out are still kept out",
      ),
      true,
    ),
  },
  source: "body",
  example: { confirm: "Chess Club" },
  data: { deletedRecords: Schema.Int },
});

const NamedLink = Schema.Struct({
  chatId: ChatId,
  gameId: GameId,
  linkVersion: Schema.Int,
  lastVerifiedAt: IsoTime,
  chat: Schema.NullOr(ChatProfile),
  game: Schema.NullOr(GameProfile),
});

export const getLinks = managed("moderator", "GET", "/links", {
  id: "getOwnedLinks",
  summary: "The links of a data scope, latest verification first",
  parameters: { pid, q: search, limit: pageLimit, cursor: nextOf(Place) },
  data: { links: Schema.Array(NamedLink), next: Text },
});

export const putLink = managed("moderator", "PUT", "/links", {
  id: "putOwnedLink",
  summary: "Link a chat user to a game user",
  parameters: { pid, chatId: chatId(), gameId: gameId(), reason },
  example: { chatId: "100003", gameId: "1", reason: "Shown to a moderator" },
  data: patchGame.success.fields.data.fields,
  refuses: ["bot_not_in_guild", "user_not_in_guild", "link_limit", "blocked", "game_taken"],
});

export const deleteLink = managed("moderator", "DELETE", "/links", {
  id: "deleteOwnedLink",
  summary: "Remove the link of a chat user",
  parameters: { pid, chatId: chatId(), reason },
  source: "body",
  example: { chatId: "100003", reason: "Sold the account" },
  data: deleteGame.success.fields.data.fields,
  errors: ["LINK_NOT_FOUND"],
  refuses: ["bot_not_in_guild"],
});

export const restoreLink = managed("moderator", "POST", "/links/restore", {
  id: "restoreOwnedLink",
  summary: "Put back the link that the team removed last, within a day, as it was",
  parameters: { pid, chatId: chatId() },
  example: { chatId: "100003" },
  data: { link: NamedLink },
  errors: ["LINK_NOT_FOUND"],
  refuses: ["bot_not_in_guild", "link_limit", "blocked", "game_taken"],
});

export const getUnlinked = managed("moderator", "GET", "/unlinked", {
  id: "getUnlinked",
  summary:
    "The members of a guild who have no link in a data scope, the last to join first; bots are left out",
  parameters: { pid, guildId: ownGuildId, q: search, limit: pageLimit, cursor: nextOf(Place) },
  example: demoGuild,
  data: {
    members: Schema.Array(
      Schema.Struct({ chatId: ChatId, username: Text, displayName: Text, joined: Text, reminded: Text }),
    ),
    next: Text,
    linked: Schema.Int,
    total: Schema.Int,
  },
  refuses: ["members_hidden", "too_many_members"],
});
