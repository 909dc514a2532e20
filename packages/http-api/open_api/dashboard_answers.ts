/**
 * Answers of the demo to the requests of `dashboard_examples.ts`, by operation ID. `test/docs/openapi_examples_test.ts`
 * sends them again and compares.
 */
import {
  bot,
  cheats,
  delivery,
  gameBlock,
  graceAlt,
  guildId,
  inGlobal,
  inGuild,
  keyOf,
  linkOf,
  linus,
  now,
  ofFreeTier,
  patchedBot,
  pausedWebhook,
  pid,
  plan,
  preview,
  review,
  rotatedBot,
  scope,
  settings,
  webhook,
} from "./demo_records.ts";

export const dashboardAnswers: Readonly<Record<string, unknown>> = {
  getSignIn: {
    data: {
      account: { name: "demo", tier: "premium" },
      user: { chatId: "100001", username: "ada", displayName: "Ada", avatar: null },
      csrfToken: "…",
      expiresAt: now,
      role: "owner",
      scopes: null,
      accounts: [{ name: "demo", role: "owner" }],
      invitations: [{ account: "chat:100004", role: "moderator", invitedBy: "100004", at: now }],
      keys: { used: 1, allowed: 10 },
    },
  },
  getGuilds: { data: { guilds: [{ guildId, name: "Engine Room", bot: true, manager: true }] } },
  getScopes: {
    data: { scopes: [scope, { ...scope, scope: "guild", guildId, name: "Engine Room", keys: 1 }] },
  },
  getScope: { data: { scope } },
  patchScope: { data: { scope: { ...scope, settings } } },
  getCommunity: {
    data: {
      community: {
        pid,
        guildId,
        linked: 3,
        bot: true,
        rights: { roles: true, nicknames: null },
        members: 4,
        rules: "on",
        pausedFor: null,
        logChannelId: "700000000000000102",
        panel: null,
        problems: 0,
        likelyAlts: 0,
        settings,
        name: null,
        lastSweepAt: now,
      },
    },
  },
  patchAccount: { data: { account: { name: "Chess Club", tier: "premium" } } },
  chooseAccount: { data: { account: "Chess Club", role: "owner", csrfToken: "…" } },
  declineInvitation: { data: { declined: true } },
  addMember: { data: { member: linus } },
  patchMember: { data: { member: { ...linus, role: "admin" } } },
  getMembers: {
    data: {
      members: [
        {
          ...linus,
          chatId: "100001",
          role: "owner",
          accepted: true,
          username: "ada",
          displayName: "Ada",
        },
        { ...linus, chatId: "100002", accepted: true, username: "grace", displayName: "Grace" },
        { ...linus, role: "admin" },
      ],
    },
  },
  removeMember: { data: { removed: true } },
  createKey: { data: { token: "alk_…", key: bot } },
  patchKey: { data: { key: patchedBot } },
  rotateKey: { data: { token: "alk_…", key: rotatedBot } },
  getKeys: {
    data: {
      keys: [
        rotatedBot,
        keyOf("manager", inGlobal, "manage"),
        { ...keyOf("", inGlobal, "game"), ...ofFreeTier(2000) },
        { ...keyOf("", inGuild, "full"), ...ofFreeTier(1000) },
        keyOf("", inGlobal, "full"),
      ],
    },
  },
  revokeKey: { data: { key: { ...rotatedBot, status: "revoked" } } },
  putOwnedLink: { data: { chatId: "100003", gameId: "1", previousGameId: "2", updated: true } },
  getOwnedLinks: {
    data: {
      links: [graceAlt, linkOf("100002", ["grace", "Grace"], "2"), linkOf("100001", ["ada", "Ada"], "1")],
      next: null,
    },
  },
  deleteOwnedLink: { data: { chatId: "100003", removedGameId: "1", deleted: true } },
  restoreOwnedLink: { data: { link: { ...graceAlt, linkVersion: 4 } } },
  getUnlinked: {
    data: {
      members: [
        {
          chatId: "100004",
          username: "linus",
          displayName: "Linus",
          joined: "2020-01-01T00:00:00.000Z",
          reminded: null,
        },
      ],
      next: null,
      linked: 3,
      total: 4,
    },
  },
  importBlocks: { data: { imported: 1, kept: 0, left: 0, wrong: 0 } },
  putBlock: { data: { block: gameBlock, removedLinks: 0 } },
  getBlocks: { data: { blocks: [gameBlock, { chatId: "100009", gameId: null, ...cheats }], next: null } },
  exportBlocks: `chatId,gameId,reason,at,member\r\n,3,Cheats,${now},\r\n100009,,Cheats,${now},\r\n`,
  deleteBlock: { data: { deleted: true } },
  putOwnedAltReview: { data: { review } },
  getOwnedAltReviews: { data: { reviews: [review] } },
  deleteOwnedAltReview: { data: { chatId: "100003", otherChatId: "100002", deleted: true } },
  getAltQueue: { data: { links: [], next: null } },
  getChannels: {
    data: {
      channels: [
        { id: "1796108400001101", name: "welcome", mayPost: true },
        { id: "1796108400001102", name: "mod-log", mayPost: true },
        { id: "1796108400001103", name: "staff", mayPost: false },
      ],
    },
  },
  postPanel: { data: { messageId: "9000000000000000002" } },
  getRanks: {
    data: {
      group: { id: "9", name: "Engine Room Crew" },
      ranks: [
        { rank: 1, name: "Stoker" },
        { rank: 200, name: "Engineer" },
        { rank: 255, name: "Chief" },
      ],
    },
  },
  previewRoles: { data: { preview } },
  getRolePreview: { data: { preview } },
  getRoleHistory: { data: { changes: [], next: null } },
  putRolesBack: { data: { pending: 0 } },
  putRoles: { data: { plan } },
  getRoles: {
    data: {
      plan,
      guildRoles: [
        { id: "2", name: "Verified", assignable: true },
        { id: "1", name: "Member", assignable: true },
      ],
    },
  },
  sweepRoles: { data: { plan } },
  deleteRoles: { data: { deleted: true } },
  createWebhook: { data: { secret: "whsec_…", webhook } },
  testWebhook: { data: { delivery } },
  getDeliveries: { data: { deliveries: [delivery], next: null } },
  resendDelivery: { data: { delivery: { ...delivery, attempts: 2 } } },
  patchWebhook: { data: { webhook: pausedWebhook } },
  rotateWebhook: { data: { secret: "whsec_…", webhook: pausedWebhook } },
  sendPendingDeliveries: { data: { webhook: pausedWebhook } },
  getWebhooks: { data: { webhooks: [pausedWebhook] } },
  deleteWebhook: { data: { deleted: true } },
  getUsage: {
    data: {
      days: [
        {
          day: "2026-01-05",
          groups: [
            { group: "lookup", served: 12, refused: 0, errors: 0 },
            { group: "bulk", served: 0, refused: 0, errors: 0 },
            { group: "write", served: 12, refused: 1, errors: 0 },
            { group: "alts", served: 0, refused: 0, errors: 0 },
            { group: "session", served: 0, refused: 0, errors: 0 },
          ],
        },
      ],
    },
  },
  getAudit: {
    data: {
      entries: [
        {
          id: "1796108400001",
          at: now,
          action: "webhook.deleted",
          actor: { type: "account", id: "Chess Club" },
          member: "100001",
          keyId: null,
          requestId: "req_01KE72VJ00A1B2C3D4E5F6G7H8",
          details: { webhookId: "wh_0123456789abcdefghij" },
        },
      ],
      next: "1796108400000",
    },
  },
  deleteSignIn: { data: { signedOut: true } },
  deleteScope: { data: { deletedRecords: 3 } },
  deleteAccount: { data: { deleted: true } },
};
