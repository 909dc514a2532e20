/** Keys, links, plans and other records of the demo, as the dashboard answers them. */
import { noSettings } from "@accountlink/core/keys";
import { exampleProfile } from "../example_profile.ts";

export const now = "2026-01-05T12:00:00.000Z";
export const guildId = "700000000000000001";
export const pid = "pid_0123456789abcdefghij";
export const inGuild = { scope: "guild", guildId, pid } as const;
export const inGlobal = { scope: "global", guildId: null, pid } as const;

export const settings = {
  ...noSettings,
  displayName: "Chess Club",
  supportUrl: "https://chess.example/help",
  minGameAgeDays: 30,
};
export const scope = {
  pid,
  scope: "global",
  guildId: null,
  name: null,
  links: 3,
  keys: 3,
  settings: noSettings,
};

export const linus = {
  chatId: "100004",
  role: "moderator",
  scopes: null,
  since: now,
  accepted: false,
  username: "linus",
  displayName: "Linus",
};

/** A key of the premium tier that was never used. */
export const keyOf = (name: string, place: typeof inGuild | typeof inGlobal, access: string) => ({
  id: "Aa0Bb1Cc2Dd3",
  display: "alk_…",
  name,
  ...place,
  tier: "premium",
  kind: "normal",
  access,
  status: "active",
  limits: { perWindow: 1, windowMs: 1000, daily: 2500, verifyDaily: 10000 },
  allowIps: [],
  denyIps: [],
  redirectOrigins: [],
  createdAt: now,
  expiresAt: null,
  lastUsedAt: null,
  previousSecretEndsAt: null,
});
export const bot = keyOf("bot", inGuild, "read");
export const patchedBot = { ...bot, allowIps: ["203.0.113.0/24"] };
export const rotatedBot = { ...patchedBot, previousSecretEndsAt: now };
export const ofFreeTier = (windowMs: number) => ({
  tier: "free",
  limits: { perWindow: 1, windowMs, daily: 500, verifyDaily: 2000 },
});

export const linkOf = (
  chatId: string,
  [username, displayName]: readonly [string, string],
  gameId: string,
) => ({
  chatId,
  gameId,
  linkVersion: 1,
  lastVerifiedAt: now,
  chat: {
    id: chatId,
    username,
    displayName,
    avatar: null,
    banner: null,
    created: "2020-01-01T00:00:00.000Z",
    guild: null,
  },
  game: exampleProfile(gameId, gameId === "1" ? "Ada" : "Grace"),
});
export const graceAlt = { ...linkOf("100003", ["grace_alt", "Grace (second account)"], "1"), linkVersion: 2 };

export const cheats = { reason: "Cheats", at: now, member: null };
export const gameBlock = { chatId: null, gameId: "3", ...cheats };

export const review = {
  chatId: "100003",
  otherChatId: "100002",
  verdict: "same",
  note: "Both said so",
  keyId: "Aa0Bb1Cc2Dd3",
  at: now,
};

export const preview = {
  state: "done",
  done: 4,
  total: 4,
  unknown: 0,
  nicknames: 0,
  unnamed: [],
  examples: [],
  roles: [{ roleId: "2", gained: 0, lost: 0 }],
};
export const plan = {
  pid,
  guildId,
  rules: [{ roleId: "2", when: { is: "linked" }, nickname: null }],
  nickname: "{game.displayName}",
  nicknameGroupId: null,
  bypassRoleIds: [],
  nicknameBypassRoleIds: [],
  unlinked: "remove",
  logChannelId: "700000000000000102",
  remindAfterDays: null,
  tellTroubles: true,
  status: { state: "on", pending: 0, sweptAt: now, sweep: { done: 0, total: 0 }, problems: [] },
};

export const webhook = {
  id: "wh_0123456789abcdefghij",
  url: "https://chess.example/hooks",
  ...inGuild,
  types: ["link.set"],
  description: "",
  status: "active",
  disabledReason: null,
  createdAt: now,
  lastDeliveredAt: null,
  failingSince: null,
  pending: 0,
};
export const pausedWebhook = { ...webhook, status: "paused" };
export const delivery = {
  eventId: "evt_01KE8Q3Z1S5Q9V8R7D6N4M2K0J",
  type: "test",
  at: now,
  attempts: 1,
  status: "given_up",
  responseStatus: null,
  error: "name",
  nextAttemptAt: null,
};
