/** The dearest request to each route, which the test of neighbours sends as often as it can. */
import { hostileFile } from "./hostile_file.ts";
import { type Attacker, dearestRules, largeGuild } from "./world.ts";

type Values = Readonly<Record<string, unknown>>;

export interface RouteRow {
  /** The status of its first answer. Later ones may be refusals by limits, or find the work done. */
  readonly answer: number;
  /** The parameters; parameters of the path by name. A function gets the attacker. */
  readonly values?: Values | ((attacker: Attacker) => Values);
  /** The key, if it is not the global one of the attacker. */
  readonly key?: keyof Attacker["keys"];
  /** The form's content type and body, for a form with a file. */
  readonly file?: (attacker: Attacker) => { readonly type: string; readonly body: Uint8Array };
}

const row = (
  answer: number,
  values?: RouteRow["values"],
  rest: Omit<RouteRow, "answer" | "values"> = {},
): RouteRow => ({ answer, ...(values && { values }), ...rest });

const chatId = "100002";
const fifty = Array.from({ length: 50 }, (_, index) => String(100_001 + index));
const games = Array.from({ length: 50 }, (_, index) => String(index + 1));
const inGuild = { guildId: largeGuild };
const resolved = { resolved: true };
const [one, other] = [{ chatId }, { chatId: "300001", otherChatId: "300002" }];
/** As large as a form or a JSON body may be. */
const filler = { filler: "x".repeat(60_000) };
const inOwn = ({ globalPid }: Attacker) => ({ pid: globalPid });
const inPlan = ({ guildPid }: Attacker) => ({ pid: guildPid, guildId: largeGuild });
const ofKey = ({ keyId }: Attacker) => ({ id: keyId });
const ofWebhook = ({ webhookId }: Attacker) => ({ id: webhookId });
const eventId = { eventId: "evt_00000000000000000000000000" };
const withOwn = (values: Values) => (attacker: Attacker) => ({ ...inOwn(attacker), ...values });
const withPlan = (values: Values) => (attacker: Attacker) => ({ ...inPlan(attacker), ...values });
const withKey = (values: Values) => (attacker: Attacker) => ({ ...ofKey(attacker), ...values });
const withWebhook = (values: Values) => (attacker: Attacker) => ({ ...ofWebhook(attacker), ...values });
const sid = { sid: `vs_${"0".repeat(43)}` };
const compat = { discordId: chatId, robloxId: "1", guildId: largeGuild };
const ofGuildKey = { key: "attackersGuild" } as const;
const plan = { rules: dearestRules, nickname: "{game.username}", state: "paused" };
const review = { ...other, verdict: "different", note: "x".repeat(500) };
const long = { name: "x".repeat(64) };

const apiRows: Readonly<Record<string, RouteRow>> = {
  "GET /v2/chat": row(200, { ...one, ...resolved }),
  "POST /v2/chat/bulk": row(200, { chatIds: fifty, ...resolved }),
  "GET /v2/game": row(200, { gameId: "1", ...inGuild, ...resolved }),
  "POST /v2/game/bulk": row(200, { gameIds: games, ...resolved }),
  "GET /v2/links": row(200, { limit: 1_000 }),
  "GET /v2/verifications/chat": row(403, { ...one, guildId: "800000000000000001" }),
  "GET /v2/alts": row(200, { gameId: "1", ...resolved, explain: true }),
  "POST /v2/alts/bulk": row(200, { gameIds: games.slice(0, 10), ...resolved, explain: true }),
  "DELETE /v2/alts/reviews": row(200, other),
  "GET /v2/alts/reviews": row(200, one),
  "PUT /v2/alts/reviews": row(200, review),
  "PATCH /v2/chat": row(404, { oldChatId: "100098", newChatId: "100097" }),
  "DELETE /v2/data": row(200, { confirm: true }, { key: "spare" }),
  "DELETE /v2/game": row(404, { chatId: "100098" }),
  "PATCH /v2/game": row(200, { ...one, gameId: "2" }),
  "POST /v2/members/sync": row(200, { chatId: "300001", ...inGuild }, ofGuildKey),
  "GET /v2/events": row(200, { from: "oldest", limit: 100, wait: 0 }),
  "GET /v2/events/stream": row(200, { from: "oldest" }),
  "POST /v2/keys/leaked": row(200, { key: "x".repeat(100) }),
  "POST /v2/sessions": row(201, { clientId: "x".repeat(128) }),
  "DELETE /v2/sessions/:sid": row(404, sid),
  "GET /v2/sessions/:sid": row(404, { ...sid, wait: 25 }),
  "GET /v2/sessions/:sid/redirect": row(302, sid),
  "GET /v2/sessions/:sid/stream": row(404, sid),
  "DELETE /api/v1/database/reset": row(200, {}, { key: "spare" }),
  "DELETE /api/v1/link/delete-game": row(400, { chatId: "100098" }),
  "PUT /api/v1/link/update-chat": row(400, { oldChatId: "100098", newChatId: "100097" }),
  "PUT /api/v1/link/update-game": row(200, { ...one, newGameId: "2" }),
  "GET /api/v1/public/chat-to-game": row(200, one),
  "GET /api/v1/public/game-to-chat": row(200, { gameId: "1", ...inGuild }),
  "GET /api/v1/public/detections/alt": row(200, { gameId: "1" }),
  "POST /api/v1/verify/session": row(201, { clientId: "x".repeat(128) }),
  "GET /api/v1/verify/session/:sid": row(404, { ...sid, wait: 25 }),
  "GET /api/v1/verify/session/:sid/stream": row(404, sid),
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
const dashboardRows: Readonly<Record<string, RouteRow>> = {
  "DELETE /dashboard/api/account": row(400, { confirm: "another name" }),
  "PATCH /dashboard/api/account": row(200, long),
  "GET /dashboard/api/guilds": row(200),
  "DELETE /dashboard/api/session": row(400, { all: "no" }),
  "GET /dashboard/api/session": row(200),
  "POST /dashboard/api/session/account": row(404, { account: "unknown" }),
  "DELETE /dashboard/api/session/invitations/:account": row(404, { account: "unknown" }),
  "POST /dashboard/api/members": row(409, { chatId: "100005", role: "moderator" }),
  "GET /dashboard/api/members": row(200),
  "PATCH /dashboard/api/members/:chatId": row(404, { chatId: "100006", role: "admin" }),
  "DELETE /dashboard/api/members/:chatId": row(404, { chatId: "100006" }),
  "POST /dashboard/api/keys": row(201, { ...long, scope: "global" }),
  "GET /dashboard/api/keys": row(200),
  "PATCH /dashboard/api/keys/:id": row(200, withKey(long)),
  "DELETE /dashboard/api/keys/:id": row(404, { id: "0".repeat(12) }),
  "POST /dashboard/api/keys/:id/rotate": row(404, { id: "0".repeat(12), graceSeconds: 1 }),
  "POST /dashboard/api/webhooks": row(201, { url: "https://hooks.example.com/", scope: "global" }),
  "GET /dashboard/api/webhooks": row(200),
  "DELETE /dashboard/api/webhooks/:id": row(404, { id: "unknown" }),
  "PATCH /dashboard/api/webhooks/:id": row(200, withWebhook({ description: "x".repeat(200) })),
  "GET /dashboard/api/webhooks/:id/deliveries": row(200, withWebhook({ limit: 100 })),
  "POST /dashboard/api/webhooks/:id/deliveries/:eventId/resend": row(404, withWebhook(eventId)),
  "POST /dashboard/api/webhooks/:id/rotate": row(200, ofWebhook),
  "POST /dashboard/api/webhooks/:id/send-pending": row(200, ofWebhook),
  "POST /dashboard/api/webhooks/:id/test": row(200, ofWebhook),
  "DELETE /dashboard/api/roles": row(403, withPlan({ guildId: "700000000000000001" })),
  "GET /dashboard/api/roles": row(200, inPlan),
  "PUT /dashboard/api/roles": row(200, withPlan(plan)),
  "GET /dashboard/api/roles/preview": row(200, inPlan),
  "POST /dashboard/api/roles/preview": row(200, withPlan({ rules: dearestRules })),
  "GET /dashboard/api/roles/ranks": row(200, { groupId: "3" }),
  "POST /dashboard/api/roles/sweep": row(200, inPlan),
  "GET /dashboard/api/channels": row(200, inPlan),
  "POST /dashboard/api/panel": row(200, withPlan({ channelId: "77", text: "x".repeat(300) })),
  "DELETE /dashboard/api/links": row(404, withOwn({ chatId: "100098" })),
  "GET /dashboard/api/links": row(200, withOwn({ limit: 100 })),
  "PUT /dashboard/api/links": row(200, withOwn({ ...one, gameId: "3", reason: "x".repeat(500) })),
  "GET /dashboard/api/scopes": row(200),
  "DELETE /dashboard/api/scopes/:pid": row(400, withOwn({ confirm: "another" })),
  "GET /dashboard/api/scopes/:pid": row(200, inOwn),
  "PATCH /dashboard/api/scopes/:pid": row(200, withOwn({ doneText: "x".repeat(300) })),
  "GET /dashboard/api/unlinked": row(200, withPlan({ limit: 100, q: "a" })),
  "DELETE /dashboard/api/blocks": row(200, withOwn({ gameId: "8" })),
  "GET /dashboard/api/blocks": row(200, withOwn({ limit: 100 })),
  "PUT /dashboard/api/blocks": row(200, withOwn({ gameId: "9", reason: "x".repeat(500) })),
  "GET /dashboard/api/alts": row(200, withOwn({ limit: 100 })),
  "DELETE /dashboard/api/alts/reviews": row(200, withOwn(other)),
  "GET /dashboard/api/alts/reviews": row(200, withOwn(one)),
  "PUT /dashboard/api/alts/reviews": row(200, withOwn(review)),
  "GET /dashboard/api/audit": row(200, { limit: 100, chatId }),
  "GET /dashboard/api/usage": row(200, { days: 90 }),
};

const flowRows: Readonly<Record<string, RouteRow>> = {
  "GET /": row(200),
  "GET /go": row(200),
  "POST /go": row(400, { code: "BBBB-BBBB", ...filler }),
  "GET /verify": row(200, inOwn),
  "GET /verify/chat/start": row(302, inOwn),
  "GET /verify/chat/callback": row(400, { code: "x".repeat(500), state: "x" }),
  "POST /verify/game/known": row(400, filler),
  "POST /verify/game/connection": row(400, filler),
  "GET /verify/game/start": row(400),
  "GET /verify/game/callback": row(400, { code: "x".repeat(500), state: "x" }),
  "GET /verify/game/words": row(400),
  "POST /verify/game/words": row(400, filler),
  "POST /verify/game/words/check": row(400, filler),
  "GET /verify/words.js": row(200),
  "POST /verify/confirm": row(400, filler),
  "POST /verify/cancel": row(400, filler),
  "GET /verify/style.css": row(200),
  "GET /verify/countdown.css": row(200),
  "POST /chat/interactions": row(401, filler),
};

const pageRows: Readonly<Record<string, RouteRow>> = {
  "GET /dashboard/sign-in": row(302),
  "GET /dashboard/callback": row(400, { code: "x".repeat(500), state: "x" }),
  "POST /dashboard/sign-out": row(403, { csrf: "wrong", ...filler }),
  "GET /dashboard/signed-out": row(200),
  "GET /dashboard/signed_out.css": row(200),
  "GET /dashboard/style.css": row(200),
  "GET /dashboard/comfort.js": row(200),
  "GET /dashboard": row(200),
  "GET /dashboard/communities": row(200),
  "POST /dashboard/communities": row(303, filler),
  "GET /dashboard/communities/:pid": row(200, inOwn),
  "GET /dashboard/communities/:pid/delete": row(200, inOwn),
  "POST /dashboard/communities/:pid/delete": row(400, withOwn({ confirm: "another", ...filler })),
  "POST /dashboard/communities/:pid": row(303, withOwn(filler)),
  "GET /dashboard/communities/:pid/roles": row(200, inPlan),
  "GET /dashboard/communities/:pid/roles/nicknames.csv": row(200, inPlan),
  "GET /dashboard/communities/:pid/roles/preview": row(200, inPlan),
  "POST /dashboard/communities/:pid/roles/preview": row(303, inPlan),
  "POST /dashboard/communities/:pid/roles": row(303, withPlan(filler)),
  "GET /dashboard/communities/:pid/channels": row(200, inPlan),
  "POST /dashboard/communities/:pid/channels": row(200, withPlan(filler)),
  "GET /dashboard/links": row(200, withOwn({ limit: 100 })),
  "GET /dashboard/links.csv": row(200, inOwn),
  "GET /dashboard/links/user": row(200, withOwn(one)),
  "POST /dashboard/links/apply-roles": row(303, withOwn({ ...one, ...filler })),
  "POST /dashboard/links/link": row(400, withOwn({ ...one, ...filler })),
  "GET /dashboard/links/unlink": row(200, withOwn(one)),
  "POST /dashboard/links/unlink": row(303, withOwn({ chatId: "300009", ...filler })),
  "GET /dashboard/links/unlink-all": row(303, inOwn),
  "POST /dashboard/links/unlink-all": row(303, withOwn({ confirm: "another", ...filler })),
  "GET /dashboard/links/unlinked": row(200, withPlan({ q: "a" })),
  "GET /dashboard/links/blocks": row(200, inOwn),
  "GET /dashboard/links/block": row(200, withOwn(one)),
  "POST /dashboard/links/block": row(303, withOwn(filler)),
  "POST /dashboard/links/unblock": row(303, withOwn({ chatId: "100006" })),
  "GET /dashboard/imports": row(200),
  "POST /dashboard/imports": row(303, {}, { file: hostileFile }),
  "GET /dashboard/imports/:id/undo": row(303, { id: "0" }),
  "POST /dashboard/imports/:id/undo": row(303, { id: "0", ...filler }),
  "GET /dashboard/imports/:id": row(303, { id: "0" }),
  "GET /dashboard/imports/:id/changed.csv": row(303, { id: "0" }),
  "GET /dashboard/imports/:id/left_out.csv": row(303, { id: "0" }),
  "POST /dashboard/imports/:id/start": row(303, { id: "0", ...filler }),
  "POST /dashboard/imports/:id/drop": row(303, { id: "0", ...filler }),
  "GET /dashboard/keys": row(200),
  "GET /dashboard/keys/new": row(200),
  "POST /dashboard/keys": row(400, filler),
  "GET /dashboard/keys/:id": row(200, ofKey),
  "POST /dashboard/keys/:id/update": row(400, withKey(filler)),
  "POST /dashboard/keys/:id/status": row(303, withKey(filler)),
  "POST /dashboard/keys/:id/rotate": row(200, withKey(filler)),
  "POST /dashboard/keys/:id/revoke": row(400, withKey(filler)),
  "GET /dashboard/webhooks": row(200),
  "GET /dashboard/webhooks/new": row(200),
  "POST /dashboard/webhooks": row(400, filler),
  "GET /dashboard/webhooks/:id": row(200, ofWebhook),
  "GET /dashboard/webhooks/:id/deliveries/:eventId": row(404, withWebhook(eventId)),
  "POST /dashboard/webhooks/:id/update": row(303, withWebhook(filler)),
  "POST /dashboard/webhooks/:id/status": row(303, withWebhook(filler)),
  "POST /dashboard/webhooks/:id/test": row(303, withWebhook(filler)),
  "POST /dashboard/webhooks/:id/send-pending": row(303, withWebhook(filler)),
  "POST /dashboard/webhooks/:id/resend": row(404, withWebhook({ ...eventId, ...filler })),
  "POST /dashboard/webhooks/:id/rotate": row(200, withWebhook(filler)),
  "POST /dashboard/webhooks/:id/delete": row(404, { id: "unknown", ...filler }),
  "GET /dashboard/usage": row(200, { days: 90 }),
  "GET /dashboard/usage.csv": row(200, { days: 90 }),
  "GET /dashboard/alts": row(200, withOwn({ gameId: "1" })),
  "POST /dashboard/alts/reviews": row(303, withOwn({ ...review, ...filler })),
  "GET /dashboard/alts/new": row(200, inOwn),
  "GET /dashboard/events": row(200, inOwn),
  "GET /dashboard/audit": row(200, { chatId }),
  "GET /dashboard/audit.csv": row(200),
  "GET /dashboard/try": row(200),
  "POST /dashboard/try": row(400, { ...one, ...filler }),
  "GET /dashboard/preview": row(200, inOwn),
  "GET /dashboard/team": row(200),
  "POST /dashboard/team/add": row(400, filler),
  "POST /dashboard/team/role": row(303, filler),
  "POST /dashboard/team/remove": row(404, { chatId: "100006" }),
  "GET /dashboard/account": row(200),
  "POST /dashboard/account/rename": row(400, filler),
  "GET /dashboard/account/delete": row(200),
  "POST /dashboard/account/delete": row(400, { confirm: "another", ...filler }),
  "POST /dashboard/account/name": row(303, filler),
  "GET /dashboard/account/choose": row(200),
  "POST /dashboard/account/choose": row(404, { account: "unknown", ...filler }),
  "POST /dashboard/account/decline": row(404, { account: "unknown", ...filler }),
  "POST /dashboard/account/end": row(403, { csrf: "wrong", ...filler }),
  "GET /me/sign-in": row(302),
  "GET /me/callback": row(400, { code: "x".repeat(500), state: "x" }),
  "POST /me/sign-out": row(403, { csrf: "wrong", ...filler }),
  "GET /me/signed-out": row(200),
  "GET /me/signed_out.css": row(200),
  "GET /me": row(200),
  "POST /me/link": row(404, { in: "unknown", gameId: "1", ...filler }),
  "GET /me/export": row(200),
  "POST /me/export": row(200, filler),
  "POST /me/addresses/forget": row(200, filler),
  "POST /me/browsers/forget": row(200, filler),
  "POST /me/remove": row(404, { pid: "unknown", ...filler }),
  "GET /me/erase": row(200),
  "POST /me/erase": row(400, { confirm: "no", ...filler }),
};

export const routeRows: Readonly<Record<string, RouteRow>> = {
  ...apiRows,
  ...dashboardRows,
  ...flowRows,
  ...pageRows,
};
