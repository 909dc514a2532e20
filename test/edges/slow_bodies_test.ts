/** Bodies that arrive slowly, that wait for the turn of their account, or that are too large. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { enterDashboard, headersOf, signInOwner } from "../contract/dashboard.ts";
import { useSiteServer } from "../contract/site_server.ts";
import { connectTo, type RawAnswer, readAnswers } from "../support/raw_http.ts";

const [ada, bob, carol] = ["100001", "100002", "100003"];
const account = "slow club";
const links = { 100001: "1" };
const server = useSiteServer();
server.fixtures.account({ name: account, chatId: ada, team: { [bob]: "admin" } });
server.fixtures.account({ name: "other club", chatId: carol });
const key = server.fixtures.key({ account, links });
const other = server.fixtures.key({ account });
server.fixtures.key({ account: "other club" });

/** Sends a request whose last byte follows only after `change`. A node may trust a key for 750 milliseconds. */
const sendSlowly = async (
  line: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  change: () => Promise<unknown>,
): Promise<RawAnswer | undefined> => {
  const socket = await connectTo(server.url());
  const all = {
    host: new URL(server.url()).host,
    connection: "close",
    "content-type": "application/json",
    "content-length": String(body.length),
    ...headers,
  };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${line} HTTP/1.1\r\n${head.join("")}\r\n${body.slice(0, -1)}`);
  // The server reads the head meanwhile, since it answers the requests of `change` later.
  await change();
  await sleep(1_000);
  socket.write(body.slice(-1));
  const [answer] = await readAnswers(socket);
  return answer;
};

const gameOf = async () =>
  (await server.send("GET /v2/chat?chatId=100001", { key: other })).body.data?.["gameId"];

test("a write whose key is revoked before the end of its body is refused", async () => {
  const body = JSON.stringify({ chatId: "100001", gameId: "2" });
  const headers = { authorization: `Bearer ${key}` };
  const nothing = () => Promise.resolve();
  expect((await sendSlowly("PATCH /v2/game", headers, body, nothing))?.status).toBe(200);
  const again = JSON.stringify({ chatId: "100001", gameId: "3" });
  const revoke = () => server.send("POST /v2/keys/leaked", { body: { key } });
  const refused = await sendSlowly("PATCH /v2/game", headers, again, revoke);
  const limits = Object.keys(refused?.headers ?? {}).filter((name) => name.includes("ratelimit"));
  expect([refused?.status, limits]).toEqual([401, []]);
  expect(await gameOf()).toBe("2");
});

test("a write of a member who is removed from the team before the end of its body is refused", async () => {
  const owner = await signInOwner(server, ada);
  const member = await signInOwner(server, bob);
  const headers = headersOf(member.browser, server.url(), member.csrfToken);
  const remove = () => owner.send(`DELETE /dashboard/api/members/${bob}`);
  const body = JSON.stringify({ name: "Late", scope: "global" });
  expect((await sendSlowly("POST /dashboard/api/keys", headers, body, remove))?.status).toBe(401);
  const { body: listed } = await owner.send("GET /dashboard/api/keys");
  expect(JSON.stringify(listed)).not.toContain("Late");
});

test("a form is refused if it is larger than its fields may be", async () => {
  const { browser, csrf, pid } = await enterDashboard(server, carol);
  const statusOf = async (path: string, fields: Readonly<Record<string, string>>) =>
    (await browser.post(path, { csrf, pid, ...fields })).status;
  const filler = (size: number) => ({ filler: "x".repeat(size) });
  expect(await statusOf("/dashboard/links/apply-roles", filler(5_000))).toBe(413);
  const longest = { chatId: "100009", reason: "\u{1f600}".repeat(500) };
  expect(await statusOf("/dashboard/links/block", longest)).toBe(303);
  expect(await statusOf("/dashboard/links/block", { ...longest, ...filler(17_000) })).toBe(413);
  expect(await statusOf("/dashboard/keys", filler(17_000))).toBe(400);
  const refused = await browser.post("/dashboard/keys", { csrf, ...filler(70_000) });
  expect([refused.status, refused.text]).toEqual([413, expect.stringContaining("This cannot be done")]);
});
