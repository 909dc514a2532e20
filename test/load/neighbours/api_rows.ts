/** The dearest request to each route of the API and of the dashboard. */
import {
  chatId,
  eventId,
  inOwn,
  inPlan,
  ofWebhook,
  one,
  other,
  type RouteRow,
  review,
  row,
  withKey,
  withOwn,
  withPlan,
  withWebhook,
} from "./row.ts";
import { type Attacker, dearestRules, largeGuild } from "./world.ts";

const fifty = Array.from({ length: 50 }, (_, index) => String(300_001 + index));
const games = Array.from({ length: 10 }, (_, index) => String(index + 1));
const inGuild = { guildId: largeGuild };
const resolved = { resolved: true };
const ofSession = ({ sid }: Attacker) => ({ sid });
const compat = { discordId: chatId, robloxId: "1", guildId: largeGuild };
const ofGuildKey = { key: "attackersGuild" } as const;
const plan = { rules: dearestRules, nickname: "{game.username}", state: "paused" };
const long = { name: "x".repeat(64) };
const alts = { chatId, gameId: "1", ip: "198.51.100.7" };
const removed = { chatId: "300001" };
const newLink = { ...removed, gameId: "2" };
const [moved, back] = ["300002", "100020"];
const hundred = Array.from({ length: 100 }, (_, index) => index);
const networks = hundred.map((index) => `203.0.113.${index}`);
const lists = {
  ...long,
  denyIps: networks,
  redirectOrigins: hundred.map((index) => `https://${index}.example`),
};
const member = { chatId: "100006" };
const leaked = hundred.map((index) => ({
  token: `alk_${String(index).padStart(12, "0")}_${"x".repeat(43)}`,
  type: "accountlink_key",
}));
export const apiRows: Readonly<Record<string, RouteRow>> = {
  "GET /v2/chat": row(200, { ...one, ...resolved }),
  "POST /v2/chat/bulk": row(200, { chatIds: fifty, ...inGuild, ...resolved }),
  "GET /v2/game": row(200, { gameId: "1", ...inGuild, ...resolved }),
  "POST /v2/game/bulk": row(200, { gameIds: Array.from({ length: 50 }, () => "1") }),
  "GET /v2/links": row(200, { limit: 1_000 }),
  "GET /v2/verifications/chat": row(200, { chatId: "300001", ...inGuild, ...resolved }),
  "GET /v2/alts": row(200, { ...alts, ...resolved, explain: true }),
  "POST /v2/alts/bulk": row(200, { gameIds: games, ...resolved, explain: true }),
  "DELETE /v2/alts/reviews": row(200, other, { again: ["PUT /v2/alts/reviews", review] }),
  "GET /v2/alts/reviews": row(200, one),
  "PUT /v2/alts/reviews": row(200, review),
  "PATCH /v2/chat": row(
    200,
    { oldChatId: moved, newChatId: back },
    { again: ["PATCH /v2/chat", { oldChatId: back, newChatId: moved }] },
  ),
  "DELETE /v2/data": row(200, { confirm: true }, { key: "spare", again: ["PATCH /v2/game", newLink] }),
  "DELETE /v2/game": row(200, removed, { again: ["PATCH /v2/game", { ...removed, gameId: "2" }] }),
  "PATCH /v2/game": row(200, { ...one, gameId: "2" }, { again: ["PATCH /v2/game", { ...one, gameId: "3" }] }),
  "POST /v2/members/sync": row(200, { chatId: "300001", ...inGuild }, ofGuildKey),
  "GET /v2/events": row(200, { from: "oldest", limit: 100, wait: 0 }),
  "GET /v2/events/stream": row(200, { from: "oldest" }),
  "POST /v2/keys/leaked": row(200, {}, { list: leaked }),
  "POST /v2/sessions": row(201, { clientId: "x".repeat(128), chatId, gameId: "1" }),
  "DELETE /v2/sessions/:sid": row(200, ({ cancelledSid }) => ({ sid: cancelledSid })),
  "GET /v2/sessions/:sid": row(200, ({ sid }) => ({ sid, wait: 25 })),
  "GET /v2/sessions/:sid/redirect": row(302, ofSession),
  "GET /v2/sessions/:sid/stream": row(200, ofSession),
  "DELETE /api/v1/database/reset": row(200, {}, { key: "spare", again: ["PATCH /v2/game", newLink] }),
  "DELETE /api/v1/link/delete-game": row(200, removed, {
    again: ["PUT /api/v1/link/update-game", { ...removed, newGameId: "2" }],
  }),
  "PUT /api/v1/link/update-chat": row(
    200,
    { oldChatId: moved, newChatId: back },
    { again: ["PUT /api/v1/link/update-chat", { oldChatId: back, newChatId: moved }] },
  ),
  "PUT /api/v1/link/update-game": row(200, { ...one, newGameId: "2" }),
  "GET /api/v1/public/chat-to-game": row(200, one),
  "GET /api/v1/public/game-to-chat": row(200, { gameId: "1", ...inGuild }),
  "GET /api/v1/public/detections/alt": row(200, alts),
  "POST /api/v1/verify/session": row(201, { clientId: "x".repeat(128) }),
  "GET /api/v1/verify/session/:sid": row(200, ({ sid }) => ({ sid, wait: 25 })),
  "GET /api/v1/verify/session/:sid/stream": row(200, ofSession),
  "GET /compat/bloxlink/v4/public/discord-to-roblox/:discordId": row(200, compat),
  "GET /compat/bloxlink/v4/public/guilds/:guildId/discord-to-roblox/:discordId": row(200, compat),
  "GET /compat/bloxlink/v4/public/guilds/:guildId/roblox-to-discord/:robloxId": row(200, compat),
  "GET /compat/bloxlink/v4/public/roblox-to-discord/:robloxId": row(200, compat),
  "GET /compat/bloxlink/developer/discord/:discordId": row(200, compat),
  "GET /compat/bloxlink/developer/roblox/:robloxId": row(200, compat),
  "GET /compat/rover/api/guilds/:guildId/discord-to-roblox/:discordId": row(200, compat),
  "GET /compat/rover/api/guilds/:guildId/roblox-to-discord/:robloxId": row(200, compat),
  "GET /compat/rowifi/v2/guilds/:guildId/members/:discordId": row(200, compat),
  "GET /compat/rowifi/v2/guilds/:guildId/members/roblox/:robloxId": row(200, compat),
  "GET /compat/rowifi/v3/guilds/:guildId/members/:discordId": row(200, compat),
  "GET /compat/rowifi/v3/guilds/:guildId/members/roblox/:robloxId": row(200, compat),
};

/** Deletions of whole accounts and sign-ins, which would end the attack, are sent without their confirmation. */
export const dashboardRows: Readonly<Record<string, RouteRow>> = {
  "DELETE /dashboard/api/account": row(400, { confirm: "another name" }),
  "PATCH /dashboard/api/account": row(200, long),
  "GET /dashboard/api/guilds": row(200),
  "DELETE /dashboard/api/session": row(400, { all: "no" }),
  "GET /dashboard/api/session": row(200),
  "POST /dashboard/api/session/account": row(404, { account: "unknown" }),
  "DELETE /dashboard/api/session/invitations/:account": row(404, { account: "unknown" }),
  "POST /dashboard/api/members": row(409, { chatId: "100005", role: "moderator" }),
  "GET /dashboard/api/members": row(200),
  "PATCH /dashboard/api/members/:chatId": row(
    200,
    { ...member, role: "admin" },
    { again: ["PATCH /dashboard/api/members/:chatId", { ...member, role: "moderator" }] },
  ),
  "DELETE /dashboard/api/members/:chatId": row(
    200,
    { chatId: "100007" },
    { again: ["POST /dashboard/api/members", { chatId: "100007", role: "moderator" }] },
  ),
  "POST /dashboard/api/keys": row(201, { ...lists, scope: "global" }),
  "GET /dashboard/api/keys": row(200),
  "PATCH /dashboard/api/keys/:id": row(200, withKey(lists)),
  "DELETE /dashboard/api/keys/:id": row(200, ({ revokedKeyId }) => ({ id: revokedKeyId })),
  "POST /dashboard/api/keys/:id/rotate": row(200, withKey({ graceSeconds: 604_800 })),
  "POST /dashboard/api/webhooks": row(201, { url: "https://hooks.example.com/", scope: "global" }),
  "GET /dashboard/api/webhooks": row(200),
  "DELETE /dashboard/api/webhooks/:id": row(404, { id: "unknown" }),
  "PATCH /dashboard/api/webhooks/:id": row(200, withWebhook({ description: "x".repeat(200) })),
  "GET /dashboard/api/webhooks/:id/deliveries": row(200, withWebhook({ limit: 100 })),
  "POST /dashboard/api/webhooks/:id/deliveries/:eventId/resend": row(404, withWebhook(eventId)),
  "POST /dashboard/api/webhooks/:id/rotate": row(200, ofWebhook),
  "POST /dashboard/api/webhooks/:id/send-pending": row(200, ofWebhook),
  "POST /dashboard/api/webhooks/:id/test": row(200, ofWebhook),
  "DELETE /dashboard/api/roles": row(200, inPlan, {
    again: ["PUT /dashboard/api/roles", withPlan(plan)],
  }),
  "GET /dashboard/api/roles": row(200, inPlan),
  "PUT /dashboard/api/roles": row(200, withPlan(plan)),
  "GET /dashboard/api/roles/preview": row(200, inPlan),
  "POST /dashboard/api/roles/preview": row(200, withPlan({ rules: dearestRules })),
  "GET /dashboard/api/roles/ranks": row(200, { groupId: "3" }),
  "GET /dashboard/api/roles/history": row(200, withPlan({ limit: 100 })),
  "POST /dashboard/api/roles/put-back": row(200, withPlan({ since: "2026-01-01" })),
  "POST /dashboard/api/roles/sweep": row(200, inPlan, {
    again: ["PUT /dashboard/api/roles", withPlan({ ...plan, state: "on" })],
  }),
  "GET /dashboard/api/channels": row(200, inPlan),
  "POST /dashboard/api/panel": row(200, withPlan({ channelId: "77", text: "x".repeat(300) })),
  "DELETE /dashboard/api/links": row(200, withOwn(removed), {
    again: ["PUT /dashboard/api/links", withOwn({ ...removed, gameId: "3" })],
  }),
  "GET /dashboard/api/links": row(200, withOwn({ limit: 100 })),
  "PUT /dashboard/api/links": row(200, withOwn({ ...one, gameId: "3", reason: "x".repeat(500) })),
  "POST /dashboard/api/links/restore": row(404, withOwn(one)),
  "GET /dashboard/api/scopes": row(200),
  "DELETE /dashboard/api/scopes/:pid": row(400, withOwn({ confirm: "another" })),
  "GET /dashboard/api/scopes/:pid": row(200, inOwn),
  "GET /dashboard/api/communities/:pid": row(200, inOwn),
  "PATCH /dashboard/api/scopes/:pid": row(200, withOwn({ doneText: "x".repeat(300) })),
  "GET /dashboard/api/unlinked": row(200, withPlan({ limit: 100, q: "a" })),
  "DELETE /dashboard/api/blocks": row(200, withOwn({ gameId: "8" }), {
    again: ["PUT /dashboard/api/blocks", withOwn({ gameId: "8", reason: "x".repeat(500) })],
  }),
  "GET /dashboard/api/blocks/export": row(200, inOwn),
  "POST /dashboard/api/blocks/import": row(200, withOwn({ csv: `gameId,reason\n8,${"x".repeat(500)}\n` })),
  "GET /dashboard/api/blocks": row(200, withOwn({ limit: 100 })),
  "PUT /dashboard/api/blocks": row(200, withOwn({ gameId: "9", reason: "x".repeat(500) }), {
    again: ["DELETE /dashboard/api/blocks", withOwn({ gameId: "9" })],
  }),
  "GET /dashboard/api/alts": row(200, withOwn({ limit: 100 })),
  "DELETE /dashboard/api/alts/reviews": row(200, withOwn(other), {
    again: ["PUT /dashboard/api/alts/reviews", withOwn(review)],
  }),
  "GET /dashboard/api/alts/reviews": row(200, withOwn(one)),
  "PUT /dashboard/api/alts/reviews": row(200, withOwn(review)),
  "GET /dashboard/api/audit": row(200, { limit: 100, chatId }),
  "GET /dashboard/api/usage": row(200, { days: 90 }),
};
