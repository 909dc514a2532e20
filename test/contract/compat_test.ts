/** Tests the emulated APIs of other link services, such as Bloxlink: each answer and refusal, with exact types. */
import { compatRoutes } from "@accountlink/http-api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BrokenStores, startOnBrokenStores } from "../support/broken_stores.ts";
import {
  botlessGuild,
  emptyGuild,
  guild,
  makeFixtures,
  newToken,
  nobody,
  stranger,
} from "../support/fixtures.ts";
import type { Answer, RequestOptions } from "../support/http.ts";
import { useServer } from "../support/server.ts";
import { answerChecker } from "./openapi_schemas.ts";
import { managedBy } from "./site_server.ts";

type Line = `${string} ${string}`;

const fixtures = makeFixtures();
const huge = "9007199254740993";
const links = {
  100001: "1",
  100002: "2",
  100003: { gameId: "2", at: "2026-02-01T00:00:00.000Z" },
  100004: nobody,
  100005: huge,
  [stranger]: "3",
};
const limits = { perWindow: 1_000, windowMs: 3_600_000, daily: 5_000 };
const globalKey = fixtures.key({ links, limits });
const guildKey = fixtures.key({ links, limits, guildId: guild });
const premiumKey = fixtures.key({ links, tier: "premium" });
const premiumGuildKey = fixtures.key({ links, tier: "premium", guildId: guild });
/** Options for a global key. The chat user of the key's account manages the guild. */
const managing = { account: "managing", tier: "premium", links, limits } as const;
const managingKey = fixtures.key(managing);
/** The chat user of this account manages no guild. */
const unmanaging = { account: "unmanaging", links, limits } as const;
const unmanagingKey = fixtures.key(unmanaging);
const partnerKey = fixtures.key({ ...unmanaging, kind: "partner" });
const otherGuildKey = fixtures.key({ guildId: emptyGuild });
const readKey = fixtures.key({ links, access: "read" });
const verifyKey = fixtures.key({ links, access: "verify" });
const elsewhereKey = fixtures.key({ links, allowIps: ["192.0.2.1"] });
const slow = () => fixtures.key({ links, limits: { perWindow: 1, windowMs: 3_600_000, daily: 9 } });
const dailyRover = fixtures.key({ links, limits: { perWindow: 0, daily: 9 }, guildId: guild });
const daily = () => fixtures.key({ links, limits: { perWindow: 0, daily: 1 } });

interface Service {
  readonly name: string;
  readonly auth: (key: string) => Readonly<Record<string, string>>;
  readonly toRoblox: (guildId: string, discordId: string) => string;
  readonly toDiscord: (guildId: string, robloxId: string) => string;
  readonly refusal: (text: unknown, code: string) => unknown;
  /** The status and the error text with which the service refuses a missing or wrong key. */
  readonly unauthorized: readonly [number, unknown];
  readonly wrongGuild: readonly [number, unknown];
  readonly unlinked: unknown;
  readonly unknown: string;
}

const invalidKey = "Unauthorized: missing or invalid API key";
const anyText = expect.any(String) as unknown;
const bloxlink = {
  unauthorized: [400, "Invalid API Key"],
  wrongGuild: [401, "Guild ID does not match API Key"],
} as const;
const membersOf = (version: string) => (guildId: string) =>
  `/compat/rowifi/${version}/guilds/${guildId}/members`;

const rowifi = (version: string): Service => ({
  name: `RoWifi ${version}`,
  auth: (key) => ({ authorization: `Bot ${key}` }),
  toRoblox: (guildId, discordId) => `${membersOf(version)(guildId)}/${discordId}`,
  toDiscord: (guildId, robloxId) => `${membersOf(version)(guildId)}/roblox/${robloxId}`,
  refusal: (message) => ({ message }),
  unauthorized: [401, invalidKey],
  wrongGuild: [403, "Guild does not match this API key"],
  unlinked: "User not found",
  unknown: `/compat/rowifi/${version}/guilds/${guild}/users`,
});

const v4 = "/compat/bloxlink/v4/public";
const bloxlinkV4: Service = {
  name: "Bloxlink v4",
  auth: (key) => ({ authorization: key }),
  toRoblox: (guildId, discordId) => `${v4}/guilds/${guildId}/discord-to-roblox/${discordId}`,
  toDiscord: (guildId, robloxId) => `${v4}/guilds/${guildId}/roblox-to-discord/${robloxId}`,
  refusal: (error) => ({ error }),
  ...bloxlink,
  unlinked: "User not found",
  unknown: `${v4}/guilds/${guild}/update-user/100001`,
};

const bloxlinkV3: Service = {
  name: "Bloxlink v3",
  auth: (key) => ({ "api-key": key }),
  toRoblox: (guildId, discordId) => `/compat/bloxlink/developer/discord/${discordId}?guildId=${guildId}`,
  toDiscord: (guildId, robloxId) => `/compat/bloxlink/developer/roblox/${robloxId}?guildId=${guildId}`,
  refusal: (error) => ({ success: false, error }),
  ...bloxlink,
  unlinked: "The specified user is not verified.",
  unknown: "/compat/bloxlink/developer/user/100001",
};

const rover: Service = {
  name: "RoVer",
  auth: (key) => ({ authorization: `Bearer ${key}` }),
  toRoblox: (guildId, discordId) => `/compat/rover/api/guilds/${guildId}/discord-to-roblox/${discordId}`,
  toDiscord: (guildId, robloxId) => `/compat/rover/api/guilds/${guildId}/roblox-to-discord/${robloxId}`,
  refusal: (message, errorCode) => ({ errorCode, message }),
  unauthorized: [401, invalidKey],
  wrongGuild: [403, "Guild does not match this API key"],
  unlinked: "User not found",
  unknown: `/compat/rover/api/guilds/${guild}/update/100001`,
};

const services = [bloxlinkV4, bloxlinkV3, rover, rowifi("v3"), rowifi("v2")];
const spentKeys = new Map(services.map(({ name }) => [name, [slow(), daily(), slow()] as const]));

const manager = "100031";
const accounts = [
  { name: managing.account, chatId: manager, tier: managing.tier },
  { name: unmanaging.account, chatId: "100032" },
];
const server = useServer(() => ({
  // Only a Redis counts requests while their answers are made.
  usual: "postgres",
  fixture: { ...managedBy([manager])(fixtures.fixture), accounts },
  env: { ACCOUNTLINK_IP_AUTH_FAILURES: "3" },
}));
let check: ReturnType<typeof answerChecker> = () => null;

beforeAll(async () => {
  check = answerChecker((await server.send("GET /openapi.json")).body);
});

const templateOf = (path: string): string =>
  path
    .replace(/\?.*$/, "")
    .replace(/\/guilds\/[^/]+/, "/guilds/{guildId}")
    .replace(/(discord-to-roblox|developer\/discord)\/[^/]+$/, "$1/{discordId}")
    .replace(/(roblox-to-discord|developer\/roblox|members\/roblox)\/[^/]+$/, "$1/{robloxId}")
    .replace(/members\/(?!roblox\/|\{)[^/]+$/, "members/{discordId}");

const send = async (line: Line, options: RequestOptions = {}): Promise<Answer> => {
  const answer = await server.send(line, { from: fixtures.address(), ...options });
  const [method = "", path = ""] = line.split(" ");
  if (method === "GET" && !services.some(({ unknown }) => path.startsWith(unknown))) {
    expect({ line, problem: check(method, templateOf(path), answer) }).toEqual({ line, problem: null });
  }
  expect(answer.headers["x-request-id"]).toMatch(/^req_/);
  if (method !== "OPTIONS") expect(answer.headers["cache-control"]).toBe("no-store");
  expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
  expect(answer.headers["retry-after"] !== undefined).toBe([429, 503].includes(answer.status));
  return answer;
};

const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  send(`GET ${path}`, { headers });

const told = ({ status, body }: Answer) => ({ status, body });

const askV4 = async (path: string, key: string) => told(await get(path, bloxlinkV4.auth(key)));

test.each([
  ["a guild key", guildKey],
  ["a global key", globalKey],
])("Bloxlink v4 answers %s with strings", async (_title, key) => {
  const linked = { status: 200, body: { robloxID: "1", resolved: {} } };
  expect(await askV4(bloxlinkV4.toRoblox(guild, "100001"), key)).toEqual(linked);
  const body = { discordIDs: ["100003", "100002"], resolved: {} };
  expect(await askV4(bloxlinkV4.toDiscord(guild, "2"), key)).toEqual({ status: 200, body });
  expect((await askV4(bloxlinkV4.toRoblox(guild, "100005"), key)).body).toEqual({
    robloxID: huge,
    resolved: {},
  });
});

test("Bloxlink v4 routes without a guild accept global keys, and refuse guild keys", async () => {
  const { body } = await get(
    `${v4}/discord-to-roblox/${stranger}?guildId=1&x=%20`,
    bloxlinkV4.auth(globalKey),
  );
  expect(body).toEqual({ robloxID: "3", resolved: {} });
  const reverse = await get(`${v4}/roblox-to-discord/3`, bloxlinkV4.auth(globalKey));
  expect(reverse.body).toEqual({ discordIDs: [stranger], resolved: {} });
  for (const path of [`${v4}/discord-to-roblox/100001`, `${v4}/roblox-to-discord/1?guildId=${guild}`]) {
    expect(await askV4(path, guildKey)).toEqual({ status: 401, body: { error: bloxlink.wrongGuild[1] } });
  }
});

test.each([
  [200, { "api-key": guildKey }],
  [200, { authorization: guildKey, "api-key": newToken() }],
  [400, { authorization: `Bearer ${guildKey}` }],
])(
  "Bloxlink v4 takes the key in the authorization or api-key header, without Bearer: %i",
  async (status, headers) => {
    expect((await get(bloxlinkV4.toRoblox(guild, "100001"), headers)).status).toBe(status);
  },
);

const roblox = {
  name: "player_1",
  displayName: "Player 1",
  id: 1,
  description: "Plays a lot",
  created: "2019-05-01T00:00:00.000Z",
  isBanned: false,
  hasVerifiedBadge: true,
  profileLink: "https://www.roblox.com/users/1/profile",
  avatar: {
    bustThumbnail: "https://game.example/h.png",
    headshotThumbnail: "https://game.example/h.png",
    fullBody: "https://game.example/b.png",
  },
  badges: [{ ImageUri: "https://game.example/7.png", Name: "First" }],
  groups: [
    {
      group: { id: 3, name: "Guild", memberCount: 12, hasVerifiedBadge: false },
      role: { id: 1, name: "Chief", rank: 255 },
    },
  ],
};
const memberOf = (number: number) => ({
  user: { id: String(100_000 + number), username: `user_${number}`, global_name: `User ${number}` },
  nick: "Nick",
  roles: ["1"],
  joined_at: "2024-01-01T00:00:00.000Z",
});

test.each([
  ["a key of the guild", premiumGuildKey],
  ["a global key of its manager", managingKey],
  ["a global key of an account without members", premiumKey],
])("Bloxlink v4 shows nicknames and roles to %s", async (_title, key) => {
  expect((await get(bloxlinkV4.toRoblox(guild, "100001"), bloxlinkV4.auth(key))).body).toEqual({
    robloxID: "1",
    resolved: { roblox, discord: memberOf(1) },
  });
  expect((await get(bloxlinkV4.toDiscord(guild, "2"), bloxlinkV4.auth(key))).body).toEqual({
    discordIDs: ["100003", "100002"],
    resolved: { discord: { 100003: memberOf(3), 100002: memberOf(2) } },
  });
});

test("Bloxlink v4 includes profiles for Premium keys", async () => {
  expect((await get(`${v4}/discord-to-roblox/100001`, bloxlinkV4.auth(premiumKey))).body).toEqual({
    robloxID: "1",
    resolved: { roblox },
  });
  expect((await get(`${v4}/roblox-to-discord/2`, bloxlinkV4.auth(premiumKey))).body).toEqual({
    discordIDs: ["100003", "100002"],
    resolved: {},
  });
  for (const [discordId, robloxID] of [
    ["100004", nobody],
    ["100005", huge],
  ] as const) {
    expect((await get(`${v4}/discord-to-roblox/${discordId}`, bloxlinkV4.auth(premiumKey))).body).toEqual({
      robloxID,
      resolved: { roblox: null },
    });
  }
});

test("Bloxlink v3 returns IDs as strings, and a header with the number of requests left for the day", async () => {
  const { auth, toRoblox, toDiscord } = bloxlinkV3;
  const answer = await get(toRoblox(guild, "100001"), auth(guildKey));
  expect(told(answer)).toEqual({
    status: 200,
    body: { success: true, user: { robloxId: "1", primaryAccount: "1" } },
  });
  expect(answer.headers["quota-remaining"]).toBe(answer.headers["x-ratelimit-remaining-day"]);
  expect(Number(answer.headers["quota-remaining"])).toBeLessThan(5_000);
  expect((await get(toDiscord(guild, "2"), auth(guildKey))).body).toEqual({
    success: true,
    user: { discordIds: ["100003", "100002"] },
  });
  for (const query of ["", "?guildId="]) {
    const path = `/compat/bloxlink/developer/discord/${stranger}${query}`;
    const { headers, body } = await get(path, auth(globalKey));
    expect(body).toEqual({ success: true, user: { robloxId: "3", primaryAccount: "3" } });
    expect(headers["quota-remaining"]).toBe(headers["x-ratelimit-remaining-day"]);
    expect((await get(path, auth(guildKey))).status).toBe(401);
  }
  expect((await get(toRoblox(guild, "100001"), { authorization: guildKey })).status).toBe(400);
});

test("RoVer tells the day of a key that has no window", async () => {
  const { auth, toRoblox } = rover;
  const { headers } = await get(toRoblox(guild, "100001"), auth(dailyRover));
  expect(headers).toMatchObject({
    "x-ratelimit-bucket": "day",
    "x-ratelimit-limit": "9",
    "x-ratelimit-remaining": "8",
  });
});

test("RoVer returns game IDs as numbers, with user names and rate limit headers", async () => {
  const { auth, toRoblox, toDiscord } = rover;
  const before = Date.now();
  const answer = await get(toRoblox(guild, "100001"), auth(guildKey));
  expect(told(answer)).toEqual({
    status: 200,
    body: { robloxId: 1, cachedUsername: "player_1", discordId: "100001", guildId: guild },
  });
  const { headers } = answer;
  expect(headers["x-ratelimit-bucket"]).toBe("second");
  expect(headers["x-ratelimit-limit"]).toBe("1000");
  expect(headers["ratelimit-policy"]).toBe('"second";q=1000;w=3600, "day";q=5000;w=86400');
  expect(headers["ratelimit"]).toMatch(/^"second";r=9\d\d;t=\d+$/);
  expect(headers["x-ratelimit-remaining"]).toMatch(/^9\d\d$/);
  const resetAfter = Number(headers["x-ratelimit-reset-after"]);
  expect(resetAfter).toBeGreaterThan(0);
  expect(before + resetAfter * 1000).toBeLessThan(Date.now() + 3_600_000);
  expect(await get(toRoblox(guild, "100004"), auth(guildKey))).toMatchObject({
    body: { robloxId: Number(nobody), cachedUsername: "" },
  });
  const member = { nick: "Nick", roles: ["1"] };
  for (const key of [guildKey, managingKey, globalKey]) {
    expect((await get(toDiscord(guild, "2"), auth(key))).body).toEqual({
      discordUsers: [
        { user: { id: "100003", username: "user_3" }, ...member },
        { user: { id: "100002", username: "user_2" }, ...member },
      ],
      robloxId: 2,
      guildId: guild,
    });
  }
  for (const path of [toRoblox(guild, "100005"), toDiscord(guild, huge)]) {
    expect(told(await get(path, auth(guildKey)))).toEqual({
      status: 404,
      body: { errorCode: "user_not_found", message: "User not found" },
    });
  }
});

test.each([
  ["v3", {}],
  ["v2", { reverse_search_consent: true }],
])("RoWifi %s returns game IDs as numbers", async (version, consent) => {
  const { auth, toRoblox, toDiscord } = rowifi(version);
  expect(told(await get(toRoblox(guild, "100001"), auth(guildKey)))).toEqual({
    status: 200,
    body: { discord_id: "100001", guild_id: guild, roblox_id: 1, ...consent },
  });
  const members = (...ids: ReadonlyArray<string>) => ids.map((discord_id) => ({ discord_id, ...consent }));
  expect((await get(toDiscord(guild, "2"), auth(globalKey))).body).toEqual(members("100003", "100002"));
  expect((await get(toRoblox(guild, "100005"), auth(guildKey))).status).toBe(404);
  expect((await get(toDiscord(guild, huge), auth(guildKey))).body).toEqual(members("100005"));
});

/**
 * The expected values of the `quota-remaining` header when a limit is used up: in the last successful answer, and in
 * the refusal after it. Services that are not listed do not send the header.
 */
const quotas: Readonly<Record<string, Record<"second" | "day", ReadonlyArray<string>>>> = {
  "Bloxlink v3": { second: ["8", "8"], day: ["0", "0"] },
};
const none = [undefined, undefined];
const aNumber = expect.stringMatching(/^\d+(?:\.\d+)?$/) as unknown;
const roverHeaders = ["bucket", "limit", "remaining", "reset-after"].map((name) => `x-ratelimit-${name}`);
/** `roverHeaders` in a refusal over the limit by any service but RoVer. These services send the headers of v2. */
const usual = { second: [undefined, "1", "0", undefined], day: [undefined, undefined, undefined, undefined] };

describe.each(services)("$name", (service) => {
  const { name, auth, toRoblox, toDiscord, refusal } = service;
  const refused = (status: number, text: unknown, code: string) => ({ status, body: refusal(text, code) });
  const user = toRoblox(guild, "100001");
  const unlinked = refused(404, service.unlinked, "user_not_found");
  const noGuild = refused(404, "Bot is not in the guild", "guild_not_found");
  const malformed = refused(400, anyText, "bad_request");
  const unknown = refused(404, "Not found", "not_found");

  test.each([
    ["a user without a link", toRoblox(guild, "100009"), globalKey, unlinked],
    ["a linked user outside of the guild", toRoblox(guild, stranger), globalKey, unlinked],
    ["a user in an empty guild", toRoblox(emptyGuild, "100001"), globalKey, unlinked],
    ["a game user without a link", toDiscord(guild, "77"), globalKey, unlinked],
    ["a game user of a user outside of the guild", toDiscord(guild, "3"), globalKey, unlinked],
    ["another guild than the key's", user, otherGuildKey, refused(...service.wrongGuild, "forbidden")],
    ["a guild without the bot", toRoblox(botlessGuild, "100001"), globalKey, noGuild],
    ["a game user in a guild without the bot", toDiscord(botlessGuild, "1"), globalKey, noGuild],
    ["a guild that the account does not manage", user, unmanagingKey, noGuild],
    ["a stranger in an unmanaged guild", toRoblox(guild, stranger), unmanagingKey, noGuild],
    ["a game user in an unmanaged guild", toDiscord(guild, "1"), unmanagingKey, noGuild],
    ["a chat ID that is too short", toRoblox(guild, "1234"), globalKey, malformed],
    ["a guild ID that is too short", toRoblox("12", "100001"), globalKey, malformed],
    ["a game ID that is no number", toDiscord(guild, "x"), globalKey, malformed],
    ["a game ID that is too long", toDiscord(guild, "1".repeat(33)), globalKey, malformed],
    ["broken percent-encoding", toRoblox(guild, "%zz"), globalKey, malformed],
    ["an unknown path", service.unknown, globalKey, unknown],
    ["an unknown path with a slash", `${service.unknown}/`, globalKey, unknown],
    ["an address", user, elsewhereKey, refused(403, "IP address not allowed", "forbidden")],
  ])("the emulated API of another service refuses %s", async (_, path, key, expected) => {
    expect(told(await get(path, auth(key)))).toEqual(expected);
  });

  test("the emulated API of another service refuses unsupported methods", async () => {
    const wrongMethod = await send(`POST ${user}`, { headers: auth(globalKey) });
    expect(told(wrongMethod)).toEqual(refused(405, "Method not allowed", "method_not_allowed"));
    expect(wrongMethod.headers.allow).toBe("GET, HEAD, OPTIONS");
  });

  test("the emulated API of another service refuses a missing or wrong key", async () => {
    const [status, text] = service.unauthorized;
    const scheme = /^(?:Bearer|Bot)/.exec(auth("")["authorization"] ?? "")?.[0];
    for (const headers of [{}, auth(""), auth("alk_nothing"), auth(newToken())]) {
      const answer = await get(user, headers);
      expect({ headers, ...told(answer) }).toEqual({ headers, ...refused(status, text, "unauthorized") });
      expect(answer.headers["www-authenticate"]).toBe(scheme);
      expect(answer.headers["x-ratelimit-limit"]).toBeUndefined();
    }
  });

  test("the emulated API of another service refuses lookups over the limits", async () => {
    const [paced = "", spent = "", unread = ""] = spentKeys.get(name) ?? [];
    for (const [key, bucket] of [
      [paced, "second"],
      [spent, "day"],
    ] as const) {
      const first = await get(user, auth(key));
      expect(first.status).toBe(200);
      const { headers, ...answer } = await get(user, auth(key));
      expect(told({ headers, ...answer })).toEqual(refused(429, anyText, "rate_limit"));
      expect(Number(headers["retry-after"])).toBeGreaterThanOrEqual(1);
      expect([first.headers["quota-remaining"], headers["quota-remaining"]]).toEqual(
        quotas[name]?.[bucket] ?? none,
      );
      expect(roverHeaders.map((header) => headers[header])).toEqual(
        name === "RoVer" ? [bucket, "1", "0", aNumber] : usual[bucket],
      );
    }
    // A request with an invalid ID counts against the limit.
    expect((await get(toRoblox(guild, "1"), auth(unread))).status).toBe(400);
    expect((await get(user, auth(unread))).status).toBe(429);
  });

  test.each([
    ["read", readKey],
    ["verify", verifyKey],
    ["partner", partnerKey],
  ])("the emulated API of another service accepts %s keys", async (_access, key) => {
    expect((await get(user, auth(key))).status).toBe(200);
    expect((await get(toDiscord(guild, "1"), auth(key))).status).toBe(200);
  });
});

describe("while the stores are down", () => {
  const down = makeFixtures();
  const key = down.key({ links: { 100001: "1" } });
  let broken: BrokenStores;

  beforeAll(async () => {
    broken = await startOnBrokenStores(down.fixture);
  });
  afterAll(() => broken.stop());

  test.each(services)(
    "$name answers 503 with Retry-After, and 500 for a bug",
    async ({ auth, toRoblox, refusal }) => {
      const { send: ask, setStores } = broken;
      const path = toRoblox(guild, "100001");
      setStores("well");
      expect((await ask(`GET ${path}`, { headers: auth(key) })).status).toBe(200);
      setStores("down");
      const answer = await ask(`GET ${toRoblox(guild, "100002")}`, { headers: auth(key) });
      expect(told(answer)).toEqual({ status: 503, body: refusal("Service unavailable", "unavailable") });
      expect(answer.headers["retry-after"]).toBe("1");
      setStores("broken");
      expect(told(await ask(`GET ${toRoblox(guild, "100003")}`, { headers: auth(key) }))).toEqual({
        status: 500,
        body: refusal("Internal server error", "internal_error"),
      });
    },
  );
});

test("requests to emulated APIs of other services are counted by route in the metrics", async () => {
  const { text } = await server.send("GET /metrics");
  for (const { id } of compatRoutes) expect(text).toMatch(new RegExp(`route="${id}"[^}]*status="200"`));
});
