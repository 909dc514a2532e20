/** Tests the configurable rules of verification sessions, and the limits of session requests. */
import { describe, expect, test } from "vitest";
import { type Answer, textOf } from "../support/http.ts";
import { expectRefusal, expectV1Refusal } from "./contract_server.ts";
import { expectRefused, generations, resuming, useSessions } from "./sessions.ts";

const isoTime = expect.stringMatching(/^\d{4}-.*Z$/);

const limitHeaders = ({ headers }: Answer) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("x-ratelimit-")));

const { fixtures, create } = useSessions({ ACCOUNTLINK_SESSION_CREATE_BURST: "6" });
const key = fixtures.key({ kind: "normal", limits: "none" });

test("the burst limit of session creations applies to keys without other limits, and counts valid requests of v1 and v2 together", async () => {
  for (let invalid = 0; invalid < 8; invalid++) await create(key, { chatId: "x" });
  for (let made = 0; made < 6; made++) {
    expect((await create(key, {}, made % 2 === 0 ? "v1" : "v2")).status).toBe(201);
  }
  const answer = await create(key);
  expectRefusal(answer, 429, "RATE_LIMITED", { bucket: "session_create" });
  expect(answer.body.meta?.rateLimit).toEqual({
    limit: 6,
    remaining: 0,
    resetAt: isoTime,
    retryAfter: Number(answer.headers["retry-after"]),
    scope: "api_key",
    bucket: "session_create",
  });
  expect(Number(answer.headers["retry-after"])).toBeLessThanOrEqual(10);
  expectV1Refusal(await create(key, {}, "v1"), 429, "Too many sessions created");
});

describe("sessions of partner and staff keys", () => {
  const { fixtures, create } = useSessions({
    ACCOUNTLINK_SESSION_CREATE_BURST: "2",
    ACCOUNTLINK_IP_PER_SECOND: "3",
    ACCOUNTLINK_IP_VERIFY_DAILY: "3",
  });
  const free = (["partner", "staff"] as const).map((kind) => fixtures.key({ kind }));
  const normal = fixtures.key();

  test("partner and staff keys create sessions without a burst limit and without address limits", async () => {
    for (const key of free) {
      const answers = await Promise.all(Array.from({ length: 9 }, () => create(key)));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    }
    const v1 = await create(free[0] as string, {}, "v1");
    expect(v1.body).toMatchObject({ verifyRequestsRemaining: null, verifyIpRequestsRemaining: null });
    expect((await create(normal, {}, "v1")).body.verifyIpRequestsRemaining).toBe(2);
  });
});

describe("configured session rules", () => {
  const { fixtures, create, newSid, read, stream } = useSessions({
    ACCOUNTLINK_SESSION_TTL: "4 seconds",
    ACCOUNTLINK_POLL_INTERVAL: "0 seconds",
    ACCOUNTLINK_POLL_LIMIT: "3",
    ACCOUNTLINK_LONG_POLL_MAX: "6 seconds",
    ACCOUNTLINK_STREAM_MAX: "200 millis",
  });
  const key = fixtures.key();

  test.each(generations)("a session can be read up to the poll limit in %s", async (generation) => {
    const { body } = await create(key);
    const sid = textOf(body.data?.sid);
    expect(body.data?.pollsRemaining).toBe(3);
    await read(sid, { key });
    await stream(sid, { key });
    expect((await read(sid, { key })).body.data?.pollsRemaining).toBe(0);
    const refusals = [await read(sid, { key }, "", generation), await stream(sid, { key }, generation)];
    for (const refused of refusals) {
      expectRefused(generation, refused, 429, "RATE_LIMITED", "Poll limit of 3 reached");
      expect(refused.headers["retry-after"]).toMatch(/^[1-4]$/);
    }
    if (generation === "v1") return;
    expect(refusals[0]?.body.meta?.rateLimit).toMatchObject({
      limit: 3,
      bucket: "poll_count",
      resetAt: body.data?.expiresAt,
    });
  });

  test("a long poll refuses a wait above ACCOUNTLINK_LONG_POLL_MAX", async () => {
    const answer = await read(await newSid(key), { key }, "?wait=7");
    const parameters = [{ name: "wait", reason: "expected at most 6 seconds" }];
    expectRefusal(answer, 400, "INVALID_PARAMETER", { parameters });
  });
});

describe("limits of session traffic", () => {
  const { fixtures, send, create, read, stream } = useSessions({ ACCOUNTLINK_IP_VERIFY_DAILY: "9" });
  const limits = { perWindow: 1, windowMs: 60_000, daily: 2, verifyDaily: 8 };
  const paced = fixtures.key({ limits, links: { 100001: "1" } });
  const unlimited = fixtures.key();
  const free = fixtures.key({ limits: {} });
  const premium = fixtures.key({ tier: "premium", limits: {} });
  const lookup = "GET /v2/chat?chatId=100001";

  test("session requests have a daily limit of their own and no limit per short window", async () => {
    const from = fixtures.address();
    const send2 = (line: `${string} ${string}`) => send(line, { key: paced, from, body: { clientId: "c" } });
    const created = await send2("POST /v2/sessions");
    const midnight = new Date().setUTCHours(24, 0, 0, 0);
    expect(created.body.meta?.rateLimit).toEqual({
      limit: 8,
      remaining: 7,
      resetAt: new Date(midnight).toISOString(),
      retryAfter: null,
      scope: "api_key",
      bucket: "verify_day",
    });
    expect(limitHeaders(created)).toEqual({
      "x-ratelimit-limit": "8",
      "x-ratelimit-remaining": "7",
      "x-ratelimit-reset": String(midnight / 1000),
      "x-ratelimit-limit-day": "8",
      "x-ratelimit-remaining-day": "7",
    });
    expect(created.headers["ratelimit-policy"]).toBe('"verify_day";q=8;w=86400');
    expect(created.headers["ratelimit"]).toMatch(/^"verify_day";r=7;t=\d+$/);
    const sid = textOf(created.body.data?.sid);
    const v1 = await read(sid, { key: paced, from }, "", "v1");
    expect(v1.body).toMatchObject({ verifyRequestsRemaining: 6, verifyIpRequestsRemaining: 7 });
    // The poll interval refuses this read. The read still counts towards the daily limit, which the headers report.
    const refused = await read(sid, { key: paced, from });
    expectRefusal(refused, 429, "RATE_LIMITED", { bucket: "poll_interval" });
    expect(limitHeaders(refused)).toMatchObject({ "x-ratelimit-limit": "8", "x-ratelimit-remaining": "5" });
    await send(`DELETE /v2/sessions/${sid}`, { key: paced, from });
    const streamed = await stream(sid, { key: paced, from, ...resuming });
    expect(limitHeaders(streamed)).toMatchObject({
      "x-ratelimit-remaining": "3",
      "x-ratelimit-limit-day": "8",
    });

    const mapped = await send(lookup, { key: paced, from });
    expect(mapped.body.meta?.rateLimit).toMatchObject({ limit: 1, remaining: 0, bucket: "second" });
    expect(mapped.headers["x-ratelimit-remaining-day"]).toBe("1");
    for (let left = 3; left > 0; left--) expect((await send2("POST /v2/sessions")).status).toBe(201);

    const full = await send2("POST /v2/sessions");
    expectRefusal(full, 429, "RATE_LIMITED", { bucket: "verify_day" });
    expectV1Refusal(await create(paced, {}, "v1"), 429, "Daily verification limit of 8 exceeded");
    // Requests that the key's limit refuses do not count towards the address limit. So the address has one request
    // left.
    const last = await send("POST /api/v1/verify/session", { key: unlimited, from, body: { clientId: "c" } });
    expect(last.body).toMatchObject({ verifyRequestsRemaining: null, verifyIpRequestsRemaining: 0 });
    const over = await send("POST /v2/sessions", { key: unlimited, from, body: { clientId: "c" } });
    expectRefusal(over, 429, "SHARED_IP_RATE_LIMITED", { bucket: "ip_verify_day" });
  });

  test.each([
    ["free", free, 2_000],
    ["premium", premium, 10_000],
  ] as const)(
    "the daily limit of session traffic for a %s key depends on its tier",
    async (_tier, key, limit) => {
      const from = fixtures.address();
      const { body } = await send("POST /v2/sessions", { key, from, body: { clientId: "c" } });
      expect(body.meta?.rateLimit).toMatchObject({ limit, remaining: limit - 1, bucket: "verify_day" });
    },
  );
});
