/** Bodies of requests to the dashboard's JSON, by operation ID, as examples of the OpenAPI document. */
const pid = "pid_5k0jv0c8pm3a1x9t";
const guildId = "700000000000000001";
const link = { pid, chatId: "100001" };
const rules = [
  { roleId: "41771983423143937", when: { is: "linked" }, nickname: null },
  {
    roleId: "41771983423143938",
    when: { is: "group", groupId: "7", minRank: 100, maxRank: null },
    nickname: null,
  },
];

/** @internal */
export const dashboardBodies: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  chooseAccount: { account: "Chess Club" },
  deleteAccount: { confirm: "Chess Club" },
  patchAccount: { name: "Chess Club" },
  putOwnedAltReview: { ...link, otherChatId: "100002", verdict: "same", note: "Both said so" },
  deleteOwnedAltReview: { ...link, otherChatId: "100002" },
  putBlock: { ...link, reason: "Cheats" },
  deleteBlock: link,
  importBlocks: { pid, csv: "chatId,gameId,reason\n100001,,Cheats\n" },
  postPanel: { pid, guildId, channelId: "41771983423143940", text: "Link your account to play with us." },
  putOwnedLink: { ...link, gameId: "1", reason: "Shown to a moderator" },
  deleteOwnedLink: { ...link, reason: "Sold the account" },
  restoreOwnedLink: link,
  deleteScope: { confirm: "Chess Club" },
  patchScope: { displayName: "Chess Club", supportUrl: "https://chess.example/help", minGameAgeDays: 30 },
  createKey: { name: "bot", scope: "guild", guildId, access: "read" },
  patchKey: { allowIps: ["203.0.113.0/24"], status: "active" },
  rotateKey: { graceSeconds: 3_600 },
  addMember: { username: "ada", role: "moderator" },
  patchMember: { role: "admin" },
  putRoles: { pid, guildId, rules, nickname: "{game.displayName}", state: "on" },
  previewRoles: { pid, guildId, rules },
  deleteRoles: { pid, guildId },
  sweepRoles: { pid, guildId },
  putRolesBack: { pid, guildId, since: "2026-01-01T12:00:00.000Z" },
  createWebhook: { url: "https://chess.example/hooks", scope: "guild", guildId, types: ["link.set"] },
  patchWebhook: { status: "paused" },
};
