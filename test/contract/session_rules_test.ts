/** Tests the configurable rules of verification sessions, and the limits of session requests. */
import { expect, test } from "vitest";
import { textOf } from "../support/http.ts";
import { expectInvalid, expectRefusal, expectV1Refusal, isoTime, limitHeaders } from "./contract_server.ts";
import { expectRefused, generations, resuming, useSessions } from "./sessions.ts";

const { fixtures, create } = useSessions({ ACCOUNTLINK_SESSION_CREATE_BURST: "6" });
const [key, partnerKey, staffKey] = (["normal", "partner", "staff"] as const).map((kind) =>
  fixtures.key({ kind, limits: "none" }),
) as [string, string, string];

test("the burst limit of session creations applies to normal keys without other limits, and counts valid requests of v1 and v2 together", async () => {
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
  for (const exempt of [partnerKey, staffKey]) {
    for (let made = 0; made < 7; made++) expect((await create(exempt)).status).toBe(201);
  }
});

const ruled = useSessions({
  ACCOUNTLINK_SESSION_TTL: "4 seconds",
  ACCOUNTLINK_POLL_INTERVAL: "0 seconds",
  ACCOUNTLINK_POLL_LIMIT: "3",
  ACCOUNTLINK_LONG_POLL_MAX: "6 seconds",
  ACCOUNTLINK_STREAM_MAX: "200 millis",
});
const polled = ruled.fixtures.key();

test.each(generations)("a session can be read up to the poll limit in %s", async (generation) => {
  const { body } = await ruled.create(polled);
  const sid = textOf(body.data?.sid);
  expect(body.data?.pollsRemaining).toBe(3);
  await ruled.read(sid, { key: polled });
  await ruled.stream(sid, { key: polled });
  expect((await ruled.read(sid, { key: polled })).body.data?.pollsRemaining).toBe(0);
  const refusals = [
    await ruled.read(sid, { key: polled }, "", generation),
    await ruled.stream(sid, { key: polled }, generation),
  ];
  for (const refused of refusals) {
    expectRefused(generation, refused, 429, "RATE_LIMITED", "Poll limit of 3 reached");
    expect(refused.headers["retry-after"]).toMatch(/^[1-4]$/);
  }
  if (generation === "v1") return;
  const resetAt = body.data?.expiresAt;
  expect(refusals[0]?.body.meta?.rateLimit).toMatchObject({ limit: 3, bucket: "poll_count", resetAt });
});

test("a long poll refuses a wait above ACCOUNTLINK_LONG_POLL_MAX", async () => {
  const answer = await ruled.read(await ruled.newSid(polled), { key: polled }, "?wait=7");
  expectInvalid(answer, "wait: expected at most 6 seconds");
});

const limited = useSessions({ ACCOUNTLINK_IP_VERIFY_DAILY: "9" });
const limits = { perWindow: 1, windowMs: 60_000, daily: 2, verifyDaily: 8 };
const paced = limited.fixtures.key({ limits, links: { 100001: "1" } });
const partner = limited.fixtures.key({ kind: "partner" });
const unlimited = limited.fixtures.key();
const lookup = "GET /v2/chat?chatId=100001";

test("session requests have a daily limit of their own and no limit per short window", async () => {
  const from = limited.fixtures.address();
  const body = { clientId: "c" };
  const send2 = (line: `${string} ${string}`) => limited.send(line, { key: paced, from, body });
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
  const v1 = await limited.read(sid, { key: paced, from }, "", "v1");
  expect(v1.body).toMatchObject({ verifyRequestsRemaining: 6, verifyIpRequestsRemaining: 7 });
  // The poll interval refuses this read. The read still counts towards the daily limit, which the headers report.
  const refused = await limited.read(sid, { key: paced, from });
  expectRefusal(refused, 429, "RATE_LIMITED", { bucket: "poll_interval" });
  expect(limitHeaders(refused)).toMatchObject({ "x-ratelimit-limit": "8", "x-ratelimit-remaining": "5" });
  await limited.send(`DELETE /v2/sessions/${sid}`, { key: paced, from });
  const streamed = await limited.stream(sid, { key: paced, from, ...resuming });
  expect(limitHeaders(streamed)).toMatchObject({
    "x-ratelimit-remaining": "3",
    "x-ratelimit-limit-day": "8",
  });

  const mapped = await limited.send(lookup, { key: paced, from });
  expect(mapped.body.meta?.rateLimit).toMatchObject({ limit: 1, remaining: 0, bucket: "second" });
  expect(mapped.headers["x-ratelimit-remaining-day"]).toBe("1");
  for (let left = 3; left > 0; left--) expect((await send2("POST /v2/sessions")).status).toBe(201);

  expectRefusal(await send2("POST /v2/sessions"), 429, "RATE_LIMITED", { bucket: "verify_day" });
  expectV1Refusal(await limited.create(paced, {}, "v1"), 429, "Daily verification limit of 8 exceeded");
  // Requests that the key's limit refuses do not count towards the address limit. So the address has one request
  // left.
  const last = await limited.send("POST /api/v1/verify/session", { key: unlimited, from, body });
  expect(last.body).toMatchObject({ verifyRequestsRemaining: null, verifyIpRequestsRemaining: 0 });
  const over = await limited.send("POST /v2/sessions", { key: unlimited, from, body });
  expectRefusal(over, 429, "SHARED_IP_RATE_LIMITED", { bucket: "ip_verify_day" });
  const exempt = await limited.send("POST /api/v1/verify/session", { key: partner, from, body });
  expect(exempt.body).toMatchObject({ verifyRequestsRemaining: null, verifyIpRequestsRemaining: null });
});
