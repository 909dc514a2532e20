/** Which refusal wins when a request has several faults at once. */
import { beforeAll, describe, expect, test } from "vitest";
import { botlessGuild, emptyGuild, guild, newToken, nobody, stranger } from "../support/fixtures.ts";
import type { Answer, RequestOptions } from "../support/http.ts";
import { useContractServer } from "./contract_server.ts";

const { fixtures, send } = useContractServer({
  ACCOUNTLINK_IP_DAILY: "200",
  ACCOUNTLINK_IP_AUTH_FAILURES: "2",
});
const links = { 100001: "1", 100002: "2" };
const key = fixtures.key({ links });
const ofGuild = fixtures.key({ guildId: guild, links });
fixtures.account({ name: "unmanaging", chatId: "100031" });
const unmanaging = fixtures.key({ account: "unmanaging", links });
// This key has the longest wait of all limits. If a refusal names another limit, the server reports the first failed
// check, and not the longest wait.
const spent = fixtures.key({ limits: { perWindow: 1, windowMs: 200_000_000 } });
const forSessions = fixtures.key({ access: "verify" });
const forSessionsSpent = fixtures.key({ access: "verify", limits: { perWindow: 1, windowMs: 200_000_000 } });
const throttled = fixtures.address();
const exhausted = fixtures.address();
const elsewhere = { allowIps: ["192.0.2.1"] };
const disabledElsewhere = fixtures.key({ status: "disabled", ...elsewhere });
const activeElsewhere = fixtures.key(elsewhere);
const tooLarge = `{"chatId":"${"1".repeat(70_000)}"}`;

beforeAll(async () => {
  for (let sent = 0; sent < 2; sent++) await send("GET /v2/chat", { from: throttled, key: newToken() });
  await send("GET /v2/chat", { key: spent });
  await send("GET /v2/chat", { key: forSessionsSpent });
  await Promise.all(Array.from({ length: 200 }, () => send("GET /v2/chat", { from: exhausted, key })));
});

type Row = readonly [
  winner: string,
  over: string,
  line: `${string} ${string}`,
  options: RequestOptions,
  expected: string,
];

const headers = { "service-version": "1999-01-01" };
const many = Array<string>(51).fill("100001");
const resolved = "GET /v2/chat?chatId=100001&resolved=true" as const;
const [bulkChat, bulkGame, sync] = [
  "POST /v2/chat/bulk",
  "POST /v2/game/bulk",
  "POST /v2/members/sync",
] as const;
const emptyInGuild = { gameIds: [], guildId: botlessGuild };
const toStranger = { chatId: stranger, guildId: guild };
const setStranger = { ...toStranger, gameId: nobody };
const moved = { oldChatId: "100005" };
const movedInGuild = { ...moved, newChatId: stranger, guildId: guild };
const inGuild = (chatId: string, guildId: string) =>
  `GET /v2/chat?chatId=${chatId}&guildId=${guildId}` as const;

const path: ReadonlyArray<Row> = [
  ["path", "throttle", "GET /v2/nope", { from: throttled }, "404 BAD_REQUEST"],
  ["method", "throttle", "POST /v2/chat", { from: throttled }, "405 BAD_REQUEST"],
  ["encoding", "throttle", "GET /v2/chat?a=%f", { from: throttled }, "400 BAD_REQUEST"],
  ["path", "key", "GET /v2/nope", { key: newToken() }, "404 BAD_REQUEST"],
];

const from = exhausted;

const credentials: ReadonlyArray<Row> = [
  ["throttle", "a wrong key", "GET /v2/chat", { from: throttled, key: newToken() }, "429 ip_auth"],
  ["throttle", "a missing key", "GET /v2/chat", { from: throttled }, "429 ip_auth"],
  ["throttle", "a body", "POST /v2/keys/leaked", { from: throttled, body: "{" }, "429 ip_auth"],
  ["key", "address list", "GET /v2/chat", { key: disabledElsewhere }, "401 INVALID_API_KEY"],
  ["key", "body", "PATCH /v2/game", { key: newToken(), body: tooLarge }, "401 INVALID_API_KEY"],
  ["address list", "address limit", "GET /v2/chat", { from, key: activeElsewhere }, "403 ip_not_allowed"],
];

const limits: ReadonlyArray<Row> = [
  ["address limit", "key limit", "GET /v2/chat", { from, key: spent }, "429 ip_day"],
  ["key limit", "parameters", "GET /v2/chat", { key: spent }, "429 second"],
  ["key limit", "body", "PATCH /v2/game", { key: spent, body: "{" }, "429 second"],
  ["key limit", "tier", resolved, { key: spent }, "429 second"],
];

const access: ReadonlyArray<Row> = [
  ["tier", "missing", "GET /v2/alts", { key }, "403 PREMIUM_REQUIRED"],
  ["address limit", "access", "GET /v2/alts", { from, key: forSessions }, "429 ip_day"],
  ["key limit", "access", "GET /v2/alts", { key: forSessionsSpent }, "429 second"],
  ["access", "tier", "GET /v2/alts?chatId=100001", { key: forSessions }, "403 key_access"],
  ["access", "missing", "GET /v2/alts", { key: forSessions }, "403 key_access"],
  ["access", "invalid", "PATCH /v2/game", { key: forSessions, body: { chatId: "x" } }, "403 key_access"],
  ["access", "body", "PATCH /v2/game", { key: forSessions, body: tooLarge }, "403 key_access"],
  ["access", "version", "GET /v2/alts", { key: forSessions, headers }, "403 key_access"],
];

const values: ReadonlyArray<Row> = [
  ["missing", "invalid", "PATCH /v2/chat", { key, body: { oldChatId: "x" } }, "400 MISSING_PARAMETER"],
  ["missing guild", "invalid", "GET /v2/chat?chatId=x", { key: ofGuild }, "400 MISSING_PARAMETER"],
  ["missing", "version", "GET /v2/chat", { key, headers }, "400 MISSING_PARAMETER"],
  ["missing", "tier", "GET /v2/chat?resolved=true", { key }, "400 MISSING_PARAMETER"],
  ["invalid", "tier", "GET /v2/chat?chatId=x&resolved=true", { key }, "400 INVALID_PARAMETER"],
  ["version", "tier", resolved, { key, headers }, "400 INVALID_PARAMETER"],
  ["too many", "tier", bulkChat, { key, body: { chatIds: many, resolved: true } }, "400 BULK_LIMIT_EXCEEDED"],
  ["empty list", "tier", bulkGame, { key, body: { gameIds: [], resolved: true } }, "400 INVALID_PARAMETER"],
  ["empty list", "guild", bulkGame, { key, body: emptyInGuild }, "400 INVALID_PARAMETER"],
  ["missing", "empty list", bulkChat, { key: ofGuild, body: { chatIds: [] } }, "400 MISSING_PARAMETER"],
  ["missing", "too many", bulkChat, { key: ofGuild, body: { chatIds: many } }, "400 MISSING_PARAMETER"],
  ...["/v2/events", "/v2/events/stream", "/v2/links"].map(
    (route): Row => [
      "cursor",
      "guild",
      `GET ${route}?cursor=x&guildId=${botlessGuild}`,
      { key: ofGuild },
      "400 INVALID_PARAMETER",
    ],
  ),
  ["tier", "guild", `${resolved}&guildId=${emptyGuild}`, { key: ofGuild }, "403 PREMIUM_REQUIRED"],
  ["tier", "link", "GET /v2/chat?chatId=100005&resolved=true", { key }, "403 PREMIUM_REQUIRED"],
];

const guilds: ReadonlyArray<Row> = [
  ["wrong guild", "bot", inGuild("100001", botlessGuild), { key: ofGuild }, "403 wrong_guild"],
  ["bot", "member", inGuild(stranger, botlessGuild), { key }, "403 bot_not_in_guild"],
  ["bot", "manager", inGuild(stranger, botlessGuild), { key: unmanaging }, "403 bot_not_in_guild"],
  ["manager", "member", inGuild(stranger, guild), { key: unmanaging }, "403 not_guild_manager"],
  ["manager", "member", sync, { key: unmanaging, body: toStranger }, "403 not_guild_manager"],
  ["member", "link", inGuild(stranger, guild), { key }, "403 user_not_in_guild"],
  ["bot", "link", `GET /v2/game?gameId=9&guildId=${botlessGuild}`, { key }, "403 bot_not_in_guild"],
  ["member", "link", "DELETE /v2/game", { key, body: toStranger }, "403 user_not_in_guild"],
  ["member", "game", "PATCH /v2/game", { key, body: setStranger }, "403 user_not_in_guild"],
  ["new member", "link", "PATCH /v2/chat", { key, body: movedInGuild }, "403 new_user_not_in_guild"],
  ["old", "new", "PATCH /v2/chat", { key, body: { ...moved, newChatId: "100002" } }, "404 LINK_NOT_FOUND"],
];

/** Returns the status of a refusal and one word: the limit's bucket, the reason of a 403, or else the error code. */
const told = ({ status, body }: Answer) => {
  const details = body.error?.details;
  const known = details?.bucket ?? (status === 403 ? details?.reason : undefined) ?? body.error?.code;
  return `${status} ${known as unknown as string}`;
};

describe.each(Object.entries({ path, credentials, limits, access, values, guilds }))(
  "the order of checks: %s",
  (_name, rows) => {
    test.each(rows)("%s goes before %s: %s", async (_winner, _over, line, options, expected) => {
      expect(told(await send(line, { from: fixtures.address(), ...options }))).toBe(expected);
    });
  },
);

const [ask, move] = ["GET /api/v1/public/chat-to-game", "PUT /api/v1/link/update-chat"] as const;

test.each([
  ["access", "tier", "GET /api/v1/public/detections/alt", forSessions, "This API key may not do that"],
  ["missing", "invalid", `${move}?oldChatId=x`, key, "Missing required parameters: newChatId"],
  [
    "guild",
    "bot",
    `${ask}?chatId=12345&guildId=${botlessGuild}`,
    ofGuild,
    "Guild does not match this API key",
  ],
  ["member", "link", `${ask}?chatId=${stranger}&guildId=${guild}`, key, "User is not in the guild"],
  ["old", "new", `${move}?oldChatId=100005&newChatId=100002`, key, "No link found for this chat ID"],
] as const)("v1 refuses a request for %s before %s: %s", async (_winner, _over, line, used, message) => {
  expect((await send(line, { key: used, from: fixtures.address() })).body.error).toBe(message);
});
