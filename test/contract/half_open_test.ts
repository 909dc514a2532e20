/** Requests whose bodies have not arrived hold no place, by whichever door: whole requests behind them are answered. */
import { once } from "node:events";
import type { Socket } from "node:net";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { chatKey } from "../support/chat.ts";
import { formOf } from "../support/flow_browser.ts";
import { connectTo } from "../support/raw_http.ts";
import { headersOf, pidOf, signInOwner } from "./dashboard.ts";
import { useSiteServer } from "./site_server.ts";

const [owner, moderator] = ["100001", "100002"];
const server = useSiteServer({ ACCOUNTLINK_CHAT_PUBLIC_KEY: chatKey });
const { send, fixtures, signIn } = server;
fixtures.account({ name: "club", chatId: owner, tier: "premium", team: { [moderator]: "moderator" } });
const key = fixtures.key({ account: "club" });
const managing = fixtures.key({ account: "club", access: "manage" });

/** More than an account or an address has places of any kind. */
const count = 40;

/** Sends the beginnings of requests whose bodies never arrive, each on a connection of its own. */
const sendHalfOpen = async (line: string, headers: Readonly<Record<string, string>>): Promise<void> => {
  const lines = Object.entries({ host: new URL(server.url()).host, "content-length": "100", ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const open = async (): Promise<Socket> => {
    const socket = await connectTo(server.url());
    socket.write(`${line} HTTP/1.1\r\n${head}\r\n{`);
    onTestFinished(() => void socket.destroy());
    return socket;
  };
  await Promise.all(Array.from({ length: count }, open));
  // The server has read the heads once it answers a request that was sent after them.
  const probe = await connectTo(server.url());
  probe.write("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  await once(probe, "data");
  probe.destroy();
};

// Steps of the server's own may wait for a connection of Postgres, and sign-ins are found before bodies arrive.
const waits = /turn_wait_seconds_count\{resource="(?!database_connections|sign_ins_found)/;
afterEach(async () => expect((await send("GET /metrics")).text).not.toMatch(waits));

const form = { "content-type": "application/x-www-form-urlencoded" };
const json = { "content-type": "application/json" };

test("forms of visitors", async () => {
  const from = "198.18.77.1";
  for (const path of ["/go", "/verify/cancel", "/verify/confirm"])
    await sendHalfOpen(`POST ${path}`, { ...form, "x-forwarded-for": from });
  expect((await send("GET /go", { from })).status).toBe(200);
  expect((await send("POST /go", { from, headers: form, body: "code=BBBB-BBBB" })).status).toBe(404);
});

test("a moderator's requests and forms, beside the owner's and the moderator's own", async () => {
  const [first, second] = [await signInOwner(server, owner), await signInOwner(server, moderator)];
  const pid = await pidOf(first);
  const headers = headersOf(second.browser, server.url(), second.csrfToken);
  await sendHalfOpen("PUT /dashboard/api/blocks", { ...json, ...headers });
  await sendHalfOpen("POST /dashboard/links/link", { ...form, ...headers });
  await sendHalfOpen("POST /dashboard/imports", {
    "content-type": "multipart/form-data; boundary=b",
    ...headers,
  });
  for (const { send: ask } of [first, second]) {
    const body = { pid, chatId: "100003", reason: null };
    expect((await ask("PUT /dashboard/api/blocks", { body })).status).toBe(200);
  }
  const { csrf = "" } = formOf(await first.browser.get("/dashboard/team"));
  const removed = await first.browser.post("/dashboard/team/remove", { csrf, chatId: moderator });
  expect(removed.status).toBe(303);
});

test("writes with a key, in the API and on the dashboard", async () => {
  for (const [line, token] of [
    ["PATCH /v2/game", key],
    ["POST /v2/chat/bulk", key],
    ["PUT /dashboard/api/blocks", managing],
  ] as const)
    await sendHalfOpen(line, { ...json, authorization: `Bearer ${token}` });
  expect((await send("PATCH /v2/game", { key, body: { chatId: "100005", gameId: "1" } })).status).toBe(200);
  expect((await send("POST /v2/chat/bulk", { key, body: { chatIds: ["1"] } })).status).toBe(200);
  const body = { chatId: "100004", reason: null };
  expect((await send("PUT /dashboard/api/blocks", { key: managing, body })).status).toBe(200);
});

test("forms of a user's own data, and what the chat platform sends", async () => {
  const browser = await signIn("100007", undefined, "me");
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  await sendHalfOpen("POST /me/export", { ...form, cookie, origin: server.url() });
  await sendHalfOpen("POST /chat/interactions", json);
  const { csrf = "" } = formOf(await browser.get("/me"));
  expect((await browser.post("/me/addresses/forget", { csrf })).status).toBe(200);
  expect((await send("POST /chat/interactions", { body: {} })).status).toBe(401);
});
