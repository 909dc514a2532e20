/**
 * Sample requests to the dashboard's JSON and their answers, by operation ID, as a community of the demo gives them.
 * `pid` is left out where a key's own is meant.
 */
import { dashboardAnswers } from "./dashboard_answers.ts";

const guildId = "700000000000000001";
const link = { chatId: "100003" };
const roleId = "2";
const otherChatId = "100002";
const rules = [{ roleId, when: { is: "linked" }, nickname: null }];

/** The parameters of the query and the fields of the body. */
const values: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  chooseAccount: { account: "Chess Club" },
  deleteAccount: { confirm: "Chess Club" },
  patchAccount: { name: "Chess Club" },
  getOwnedAltReviews: link,
  putOwnedAltReview: { ...link, otherChatId, verdict: "same", note: "Both said so" },
  deleteOwnedAltReview: { ...link, otherChatId },
  putBlock: { gameId: "3", reason: "Cheats" },
  deleteBlock: { gameId: "3" },
  importBlocks: { csv: "chatId,gameId,reason\n100009,,Cheats\n" },
  getChannels: { guildId },
  postPanel: { guildId, channelId: "700000000000000101", text: "Link your account to play with us." },
  putOwnedLink: { ...link, gameId: "1", reason: "Shown to a moderator" },
  deleteOwnedLink: { ...link, reason: "Sold the account" },
  restoreOwnedLink: link,
  getUnlinked: { guildId },
  deleteScope: { confirm: "Chess Club" },
  patchScope: { displayName: "Chess Club", supportUrl: "https://chess.example/help", minGameAgeDays: 30 },
  createKey: { name: "bot", scope: "guild", guildId, access: "read" },
  patchKey: { allowIps: ["203.0.113.0/24"], status: "active" },
  rotateKey: { graceSeconds: 3_600 },
  addMember: { username: "linus", role: "moderator" },
  patchMember: { role: "admin" },
  getUsage: { days: 1 },
  getAudit: { limit: 1 },
  getRoles: { guildId },
  getRanks: { groupId: "9" },
  putRoles: { guildId, rules, nickname: "{game.displayName}", state: "on" },
  previewRoles: { guildId, rules },
  getRolePreview: { guildId },
  deleteRoles: { guildId },
  sweepRoles: { guildId },
  getRoleHistory: { guildId },
  putRolesBack: { guildId, since: "2026-01-01T12:00:00.000Z" },
  createWebhook: { url: "https://chess.example/hooks", scope: "guild", guildId, types: ["link.set"] },
  patchWebhook: { status: "paused" },
};

/** @internal */
export const dashboardValues = (id: string): Readonly<Record<string, unknown>> | undefined => values[id];

/** @internal */
export const dashboardAnswer = (id: string): unknown => dashboardAnswers[id];
