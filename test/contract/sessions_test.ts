/** Verification sessions over HTTP: creating, reading in three ways, and cancelling. */
import { request } from "node:http";
import { expect, test } from "vitest";
import { guild } from "../support/fixtures.ts";
import { textOf } from "../support/http.ts";
import { expectInvalid, expectRefusal, expectV1Refusal } from "./contract_server.ts";
import { expectRefused, generations, resuming, routes, useSessions } from "./sessions.ts";

const { fixtures, send, url, create, newSid, read, stream, cancel, untilOpen } = useSessions();

const origins = { redirectOrigins: ["https://app.example", "http://127.0.0.1:9999"] };
const key = fixtures.key(origins);
const ofGuild = fixtures.key({ guildId: guild });

test.each(generations)("creating a session answers 201 with the session in %s", async (generation) => {
  const before = Date.now();
  const { status, body } = await create(key, {}, generation);
  expect(status).toBe(201);
  const { sid, createdAt, expiresAt, ...rest } = body.data ?? {};
  expect(sid).toMatch(/^vs_[0-9A-Za-z_-]{43}$/);
  expect(rest).toEqual({
    pid: expect.stringMatching(/^pid_[0-9a-z]{16,}$/),
    clientId: "client",
    guildId: null,
    state: "pending",
    url: expect.stringMatching(new RegExp(`^http://127\\.0\\.0\\.1:\\d+/verify\\?sid=${textOf(sid)}$`)),
    code: expect.stringMatching(/^[2-9B-DF-HJKMNP-TV-XZ]{4}-[2-9B-DF-HJKMNP-TV-XZ]{4}$/),
    codeUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/go$/),
    chatId: null,
    gameId: null,
    linkChanged: false,
    previousGameId: null,
    proof: null,
    error: null,
    completedAt: null,
    pollsRemaining: 150,
  });
  expect(Date.parse(textOf(createdAt))).toBeGreaterThanOrEqual(before);
  expect(Date.parse(textOf(expiresAt)) - Date.parse(textOf(createdAt))).toBe(300_000);
});

test("a created session has the values of the request, and all sessions of a scope have the same pid", async () => {
  const asked = { clientId: "🔗".repeat(128), guildId: guild, chatId: "100001" };
  expect((await create(ofGuild, asked)).body.data).toMatchObject(asked);
  const [one, other] = [
    await create(key, { chatId: null, guildId: null, redirect: null }),
    await create(key, { redirect: "https://app.example/back?x=1#top" }),
  ];
  expect([one.status, other.status]).toEqual([201, 201]);
  expect(other.body.data?.pid).toBe(one.body.data?.pid);
});

test.each([
  ["clientId", "129 characters beyond the basic plane", { clientId: "🔗".repeat(129) }],
  ["clientId", "a number", { clientId: 7 }],
  ["clientId", "NUL", { clientId: "a\0b" }],
  ["chatId", "no ID", { chatId: "ada" }],
  ["guildId", "no ID", { guildId: "12" }],
  ["redirect", "another origin", { redirect: "https://evil.example/" }],
])("creating a session refuses an invalid %s: %s", async (name, _title, body) => {
  expectInvalid(await create(key, body), name);
  expectV1Refusal(await create(key, body, "v1"), 400, `Invalid parameter: ${name}`);
});

const other = fixtures.key();

test.each(generations)("reading a session uses one poll in %s", async (generation) => {
  const { body } = await create(key, { chatId: "100001" });
  const sid = textOf(body.data?.sid);
  const answer = await read(sid, { key }, "", generation);
  expect(answer.status).toBe(200);
  expect(answer.body.data).toEqual({ ...body.data, pollsRemaining: 149 });
});

test.each(["26", "1.5", "-1"])("reading a session refuses wait=%s, even too early", async (wait) => {
  const sid = await newSid(key);
  await read(sid, { key });
  expectInvalid(await read(sid, { key }, `?wait=${wait}`), "wait");
  expectV1Refusal(await read(sid, { key }, `?wait=${wait}`, "v1"), 400, "Invalid parameter: wait");
});

test.each(generations)(
  "reading a session is refused within 2 seconds of a read in %s",
  async (generation) => {
    const sid = await newSid(key);
    await read(sid, { key }, "", generation === "v2" ? "v1" : "v2");
    const answers = await Promise.all([
      read(sid, { key }, "", generation),
      stream(sid, { key }, generation),
      ...["", "?wait=1"].map((query) => read(sid, { key, ...resuming }, query, generation)),
    ]);
    for (const answer of answers) {
      const wait = Number(answer.headers["retry-after"]);
      const message = `Please wait ${wait} ${wait === 1 ? "second" : "seconds"} before the next poll`;
      expectRefused(generation, answer, 429, "RATE_LIMITED", message);
      expect(wait).toBeLessThanOrEqual(2);
    }
    await cancel(sid, key);
    // The poll interval does not apply to a resumed stream.
    const { text } = await stream(sid, { key, ...resuming }, generation);
    // The refused reads did not lower `pollsRemaining`.
    expect(text).toContain('"pollsRemaining":148');
  },
);

test.each([
  ["of another key", async () => newSid(key)],
  ["that does not exist", async () => `vs_${"0".repeat(43)}`],
  ["that is malformed", async () => "vs_%00%2F..%2Fx"],
])("reading does not find a session %s", async (_title, sidOf) => {
  const sid = await sidOf();
  for (const path of [sid, `${sid}?wait=25`, `${sid}/stream`]) {
    expectRefusal(await send(`GET /v2/sessions/${path}`, { key: other }), 404, "SESSION_NOT_FOUND", null);
    const v1 = await send(`GET /api/v1/verify/session/${path}`, { key: other });
    expectV1Refusal(v1, 404, "Verification session not found");
  }
  expectRefusal(await cancel(sid, other), 404, "SESSION_NOT_FOUND", null);
});

test.each(generations)("a long poll waits for the next state in %s", async (generation) => {
  const sid = await newSid(key);
  const waiting = read(sid, { key }, "?wait=25", generation);
  await untilOpen(1);
  await cancel(sid, key);
  expect((await waiting).body.data).toMatchObject({ state: "cancelled", pollsRemaining: 149 });
  await untilOpen(0);
});

test("a long poll returns the current state when the wait ends", async () => {
  const started = performance.now();
  const { status, body } = await read(await newSid(key), { key }, "?wait=1");
  expect({ status, state: body.data?.state }).toEqual({ status: 200, state: "pending" });
  expect(performance.now() - started).toBeGreaterThanOrEqual(990);
});

test("a new read ends the open long poll of the same session", async () => {
  const sid = await newSid(key);
  const poll = read(sid, { key }, "?wait=25");
  await untilOpen(1);
  const events = stream(sid, { key, ...resuming });
  expect((await poll).body.data).toMatchObject({ state: "pending" });
  await untilOpen(1);
  const last = stream(sid, { key, ...resuming });
  expect((await events).text).toMatch(/\n\nevent: timeout\ndata: \{\}\n\n$/);
  await cancel(sid, key);
  await last;
  await untilOpen(0);
});

/** Returns the text that a stream with these events must send. */
const written = (...events: ReadonlyArray<readonly [event: string, id: number, session: unknown]>) =>
  events.map(([event, id, data]) => `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join("");

test.each(generations)("a session stream sends the current and the final state in %s", async (generation) => {
  const { body } = await create(key, { clientId: "line\nbreak" }, generation);
  const session = { ...body.data, pollsRemaining: 149 };
  const sid = textOf(body.data?.sid);
  const events = stream(sid, { key }, generation);
  await untilOpen(1);
  await cancel(sid, key);
  const { text, headers } = await events;
  const cancelled = { ...session, state: "cancelled" };
  expect(text).toBe(`retry: 2000\n\n${written(["session", 1, session], ["cancelled", 2, cancelled])}`);
  expect(headers).toMatchObject({
    "cache-control": "no-store, no-transform",
    "x-accel-buffering": "no",
  });
});

test("a session stream starts with the next change for a client that knows the current state", async () => {
  const sid = await newSid(key);
  const events = stream(sid, { key, headers: { "last-event-id": "1" } });
  await untilOpen(1);
  await cancel(sid, key);
  const { text } = await events;
  expect(text).toMatch(/^retry: 2000\n\n:\n\nid: 2\nevent: cancelled\ndata: \{.*\}\n\n$/);
  const again = await stream(sid, { key, headers: { "last-event-id": "1" } });
  expect(again.text).toMatch(/^retry: 2000\n\nid: 2\nevent: cancelled\n/);
});

test.each(generations)(
  "a session stream answers 204 if the final state is known, in %s",
  async (generation) => {
    const sid = await newSid(key);
    await cancel(sid, key);
    const answer = await stream(sid, { key, headers: { "last-event-id": "2" } }, generation);
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expect(answer.headers).toMatchObject({ "x-request-id": expect.stringMatching(/^req_/) });
  },
);

test.each(["/stream", "?wait=25"])("an open read ends when the client of %s disconnects", async (path) => {
  const sid = await newSid(key);
  const { hostname, port } = new URL(url());
  const outgoing = request({
    hostname,
    port,
    path: `/v2/sessions/${sid}${path}`,
    headers: { authorization: `Bearer ${key}` },
  }).end();
  await untilOpen(1);
  outgoing.on("error", () => {}).destroy();
  await untilOpen(0);
  expect((await cancel(sid, key)).status).toBe(200);
});

test.each(["nope", "a%26pid=1", "%00"])("the redirect of a session takes any sid: %s", async (sid) => {
  for (const method of ["GET", "HEAD"]) {
    const { status, headers } = await send(`${method} /v2/sessions/${sid}/redirect?guildId=1&sid=2`);
    expect(status).toBe(302);
    const expected = `/verify?sid=${encodeURIComponent(decodeURIComponent(sid))}`;
    expect(headers.location?.replace(/^http:\/\/127\.0\.0\.1:\d+/, "")).toBe(expected);
    expect(headers).toMatchObject({ "x-request-id": expect.any(String), "service-version": "2026-01-01" });
  }
});

test("session routes refuse HEAD and do not count it as a read", async () => {
  for (const path of [routes.v2, routes.v1]) {
    const sid = await newSid(key);
    for (const end of ["", "/stream"]) {
      const { status, headers } = await send(`HEAD ${path}/${sid}${end}`, { key: key });
      expect(status).toBe(405);
      expect(headers.allow).not.toContain("HEAD");
    }
    expect((await cancel(sid, key)).body.data?.pollsRemaining).toBe(150);
  }
});
