/** Limits of keys and client addresses, and how answers report them. */
import { expect, test } from "vitest";
import { newToken } from "../support/fixtures.ts";
import { type Answer, textOf } from "../support/http.ts";
import {
  expectRefusal,
  expectV1Refusal,
  isoTime,
  limitHeaders,
  useContractServer,
} from "./contract_server.ts";

const lookup = "GET /v2/chat?chatId=100001";
const v1Lookup = "GET /api/v1/public/chat-to-game?chatId=100001";

const standardHeaders = ({ headers }: Answer) => [headers["ratelimit-policy"], headers["ratelimit"]];

const { fixtures, send } = useContractServer({}, { usual: "postgres" });
const links = { 100001: "1" };
const limited = fixtures.key({
  tier: "premium",
  limits: { perWindow: 5, windowMs: 60_000, daily: 100 },
  links,
});
const unlimited = fixtures.key({ links });
const ending = fixtures.key({ limits: { perWindow: 6, windowMs: 1_500, daily: 3 }, links });
const freeFirst = fixtures.key({ limits: {}, links });
const freePaced = fixtures.key({ limits: {}, links });
const premiumPaced = fixtures.key({ tier: "premium", limits: {}, links });
const slow = fixtures.key({ limits: { perWindow: 2, windowMs: 60_000, daily: 9 }, links });
const unpaced = fixtures.key({ limits: { perWindow: 0, daily: 50 }, links });
const elsewhere = fixtures.key({
  limits: { perWindow: 0, daily: 50 },
  denyIps: ["0.0.0.0/0", "::/0"],
  links,
});

test("answers report the short window in meta.rateLimit, and both windows in headers", async () => {
  const before = Date.now();
  const answer = await send(lookup, { key: limited });
  const { rateLimit, tier } = answer.body.meta ?? {};
  expect(tier).toBe("premium");
  expect(rateLimit).toEqual({
    limit: 5,
    remaining: 4,
    resetAt: isoTime,
    retryAfter: null,
    scope: "api_key",
    bucket: "second",
  });
  const reset = Date.parse(textOf(rateLimit?.resetAt));
  expect(reset).toBeGreaterThanOrEqual(before + 60_000);
  expect(reset).toBeLessThanOrEqual(Date.now() + 60_000);
  expect(limitHeaders(answer)).toEqual({
    "x-ratelimit-limit": "5",
    "x-ratelimit-remaining": "4",
    "x-ratelimit-reset": String(Math.ceil(reset / 1000)),
    "x-ratelimit-limit-day": "100",
    "x-ratelimit-remaining-day": "99",
  });
  expect(standardHeaders(answer)).toEqual(['"second";q=5;w=60, "day";q=100;w=86400', '"second";r=4;t=60']);
});

test("the RateLimit header reports the window with the fewest requests left", async () => {
  const untilMidnight = Math.ceil((new Date().setUTCHours(24, 0, 0, 0) - Date.now()) / 1000);
  const answers: Array<Answer> = [];
  for (let sent = 0; sent < 4; sent++) answers.push(await send(v1Lookup, { key: ending }));
  expect(new Set(answers.map((answer) => standardHeaders(answer)[0]))).toEqual(
    new Set(['"second";q=6;w=2, "day";q=3;w=86400']),
  );
  const told = answers.map((answer) => /^"day";r=(\d+);t=(\d+)$/.exec(String(standardHeaders(answer)[1])));
  expect(told.map((found) => found?.[1])).toEqual(["2", "1", "0", "0"]);
  expect(answers.map(({ body }) => body.requestsRemaining)).toEqual([2, 1, 0, 0]);
  const seconds = Number(told[0]?.[2]);
  expect(seconds).toBeLessThanOrEqual(untilMidnight);
  expect(seconds).toBeGreaterThan(untilMidnight - 60);
  const [, paced] = standardHeaders(await send(lookup, { key: freeFirst }));
  expect(paced).toBe('"second";r=0;t=2');
});

test.each([
  ["an unlimited key", "api_key", "free", 200, lookup, { key: unlimited }],
  ["no key", null, undefined, 401, lookup, {}],
  ["a wrong key", null, undefined, 401, lookup, { key: newToken() }],
  ["an address that the key does not allow", null, "free", 403, lookup, { key: elsewhere }],
  ["an unknown path", null, undefined, 404, "GET /v2/nope", { key: limited }],
  ["another method", null, undefined, 405, "POST /v2/chat", { key: limited }],
  ["broken percent-encoding", null, undefined, 400, "GET /v2/chat?chatId=%", { key: limited }],
] as const)("limits are not reported with %s", async (_title, scope, tier, status, line, options) => {
  const answer = await send(line, options);
  expect([answer.status, limitHeaders(answer)]).toEqual([status, {}]);
  const { requestId: _, ...meta } = answer.body.meta ?? {};
  const rateLimit = { limit: null, remaining: null, resetAt: null, retryAfter: null, scope };
  expect(meta).toEqual({ version: "2.0.0", rateLimit, ...(tier && { tier }) });
  if (line !== lookup) return;
  const { body } = await send(v1Lookup, options);
  expect(body).toMatchObject({ status, requestsRemaining: null, ipRequestsRemaining: null });
});

test.each([
  ["free", freePaced, 2],
  ["premium", premiumPaced, 1],
] as const)("a %s key has a limit per window", async (_tier, key, windowSeconds) => {
  const statuses = new Set<number>();
  let refused: Answer | undefined;
  // Repeat the two requests until one is refused: on a busy machine, they may fall into different windows.
  while (refused === undefined) {
    const answers = await Promise.all([send(v1Lookup, { key }), send(v1Lookup, { key })]);
    for (const { status } of answers) statuses.add(status);
    refused = answers.find(({ status }) => status === 429);
  }
  expect(statuses).toEqual(new Set([200, 429]));
  const wait = Number(refused.headers["retry-after"]);
  expect(wait).toBeGreaterThanOrEqual(1);
  expect(wait).toBeLessThanOrEqual(windowSeconds);
  expectV1Refusal(
    refused,
    429,
    `Please wait ${wait} ${wait === 1 ? "second" : "seconds"} before your next request`,
  );
  expect(refused.body.retryAfter).toBe(wait);
});

test("the refusal of a request over the short limit names that limit, and the request does not count towards the daily limit", async () => {
  const day = async () => (await send(lookup, { key: slow })).headers["x-ratelimit-remaining-day"];
  expect([await day(), await day(), await day(), await day()]).toEqual(["8", "7", "7", "7"]);
  const answer = await send(lookup, { key: slow });
  expectRefusal(answer, 429, "RATE_LIMITED", { bucket: "second" });
  expect(answer.body.meta).toMatchObject({ tier: "free", rateLimit: { limit: 2 } });
  expect(limitHeaders(answer)).toMatchObject({ "x-ratelimit-limit": "2", "x-ratelimit-remaining": "0" });
});

test("each request counts once, whatever its answer, including bulk lookups", async () => {
  const lines = [
    ["GET /v2/chat?chatId=100005", undefined],
    ["GET /v2/chat", undefined],
    ["GET /v2/chat?chatId=100001&resolved=true", undefined],
    ["HEAD /v2/chat?chatId=100001", undefined],
    ["POST /v2/chat/bulk", { chatIds: ["100001", "100002", "100003"] }],
    ["PATCH /v2/game", "{"],
  ] as const;
  const remaining: Array<unknown> = [];
  for (const [line, body] of lines) {
    const answer = await send(line, { key: unpaced, ...(body === undefined ? {} : { body }) });
    remaining.push(answer.headers["x-ratelimit-remaining-day"]);
  }
  expect(remaining).toEqual(["49", "48", "47", "46", "45", "44"]);
});

const daily = useContractServer({ ACCOUNTLINK_IP_DAILY: "5" });
const one = daily.fixtures.key({ links });
const other = daily.fixtures.key({ tier: "premium", limits: { perWindow: 0, daily: 30 }, links });
const banned = daily.fixtures.key({ denyIps: ["0.0.0.0/0"] });
const exempt = (["partner", "staff"] as const).map((kind) => daily.fixtures.key({ kind, links }));

const left = async (from: string, key = one) =>
  (await daily.send(v1Lookup, { from, key })).body.ipRequestsRemaining;

test("the refusal of a request over an address limit names that limit, and the request does not count for the key", async () => {
  const from = daily.fixtures.address();
  for (let sent = 0; sent < 5; sent++) await left(from, other);
  const before = (await daily.send(v1Lookup, { from: daily.fixtures.address(), key: other })).body
    .requestsRemaining;
  const answer = await daily.send(lookup, { from, key: other });
  expectRefusal(answer, 429, "SHARED_IP_RATE_LIMITED", { bucket: "ip_day" });
  expect(answer.body.meta).toMatchObject({ tier: "premium", rateLimit: { limit: 5 } });
  expect(limitHeaders(answer)["x-ratelimit-remaining-day"]).toBe(JSON.stringify(before));
  const v1 = await daily.send(v1Lookup, { from, key: other });
  expectV1Refusal(v1, 429, "Too many requests from this IP address");
  expect(v1.body).toMatchObject({ ipRequestsRemaining: 0, requestsRemaining: before });
});

test("requests without an accepted key or with an unknown path do not count towards the address limit", async () => {
  const from = daily.fixtures.address();
  await daily.send(lookup, { from });
  await daily.send(lookup, { from, key: newToken() });
  await daily.send(lookup, { from, key: banned });
  await daily.send("GET /v2/nope", { from, key: one });
  await daily.send("GET /v2/verifications/chat?chatId=100001", { from });
  expect(await left(from)).toBe(4);
});

test("limits of an address do not apply to partner and staff keys", async () => {
  const from = daily.fixtures.address();
  for (const key of exempt) {
    for (let sent = 0; sent < 7; sent++) expect(await left(from, key)).toBeNull();
  }
  expect(await left(from)).toBe(4);
  for (let sent = 0; sent < 5; sent++) await left(from);
  expect((await daily.send(lookup, { from, key: one })).status).toBe(429);
  for (const key of exempt) expect((await daily.send(lookup, { from, key })).status).toBe(200);
});

const bursts = useContractServer({
  ACCOUNTLINK_IP_PER_SECOND: "3",
  ACCOUNTLINK_IP_PAGES_PER_SECOND: "3",
});
const key = bursts.fixtures.key({ links });

/**
 * Sends requests from a new address within one second. If a busy machine takes longer, sends them again from another
 * address.
 */
const inOneSecond = async <A>(sendFrom: (from: string) => Promise<A>): Promise<A> => {
  const begin = performance.now();
  const answers = await sendFrom(bursts.fixtures.address());
  return performance.now() - begin < 1_000 ? answers : inOneSecond(sendFrom);
};

/** Sends 5 concurrent requests without a key from one address, and returns the 2 refused answers. */
const refusedOfFive = async (line: Parameters<typeof bursts.send>[0]) => {
  const answers = await inOneSecond((from) =>
    Promise.all(Array.from({ length: 5 }, () => bursts.send(line, { from }))),
  );
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.map(({ headers }) => headers["retry-after"])).toEqual(["1", "1"]);
  expect(refused.map(limitHeaders)).toEqual([{}, {}]);
  return refused;
};

test.each([
  "GET /v2/sessions/vs_1/redirect",
  "GET /v2/verifications/chat?chatId=100001",
  "GET /openapi.json",
  "GET /docs/style.css",
  "GET /dashboard/api/keys",
  "POST /dashboard/api/keys",
  "GET /nope",
  "GET /v2/nope",
  "GET /v2/chat/?chatId=100001",
  "GET /dashboard/api/nope",
] as const)("requests without a key are limited per second and address: %s", async (line) => {
  for (const answer of await refusedOfFive(line)) {
    expectRefusal(answer, 429, "SHARED_IP_RATE_LIMITED", { bucket: "ip_second" });
    expect(answer.body.meta).not.toHaveProperty("tier");
    expect(answer.body.meta?.rateLimit?.limit).toBe(3);
  }
});

test.each([
  ["GET /v2/chat?chatId=%", 400],
  ["PUT /v2/chat", 405],
  ["OPTIONS /v2/chat", 204],
  ["PUT /dashboard/api/keys", 405],
  ["DELETE /api/v1/link/update-chat", 405],
] as const)("requests that no route takes do not count for the address: %s", async (line, status) => {
  const [unrouted, answer] = await inOneSecond(async (from) => [
    await Promise.all(Array.from({ length: 5 }, () => bursts.send(line, { from }))),
    await bursts.send(lookup, { from, key }),
  ]);
  expect(unrouted.map((each) => each.status)).toEqual(unrouted.map(() => status));
  expect(answer.status).toBe(200);
});

test.each([
  ["GET /docs", "<h1>Too many requests</h1>"],
  ["GET /verify?sid=vs_1", "<h1>Too many requests</h1>"],
  ["GET /verify/nope", "<h1>Too many requests</h1>"],
  ["PUT /verify/confirm", "<h1>Too many requests</h1>"],
  ["GET /api/v1/nope", '"error":"Too many requests from this IP address"'],
  ["GET /compat/rover/nope", '"errorCode":"rate_limit"'],
] as const)(
  "requests over the limits of an address are refused in the form of their path: %s",
  async (line, part) => {
    for (const { text } of await refusedOfFive(line)) expect(text).toContain(part);
  },
);

test("pages and other requests have their own limits per second", async () => {
  const [pages, lookups] = await inOneSecond(async (from) => [
    await Promise.all([1, 2, 3].map(() => bursts.send("GET /go", { from }))),
    await Promise.all([1, 2, 3].map(() => bursts.send("GET /v2/nope", { from }))),
  ]);
  expect(pages.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(lookups.map(({ status }) => status)).toEqual([404, 404, 404]);
});

test("requests with and without a key count together for the address", async () => {
  const answer = await inOneSecond(async (from) => {
    await Promise.all([1, 2, 3].map(() => bursts.send("GET /v2/sessions/vs_1/redirect", { from })));
    return bursts.send(lookup, { from, key });
  });
  expectRefusal(answer, 429, "SHARED_IP_RATE_LIMITED", { bucket: "ip_second" });
});

test("limits of an address do not apply to operator endpoints", async () => {
  const from = bursts.fixtures.address();
  for (const path of ["/healthz", "/readyz", "/metrics"]) {
    const answers = await Promise.all(Array.from({ length: 9 }, () => bursts.send(`GET ${path}`, { from })));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  }
  expect((await bursts.send(lookup, { from, key })).status).toBe(200);
});
