/** Writes whose body is still arriving when the key is revoked, or when the member is removed from the team. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { headersOf, signInOwner } from "../contract/dashboard.ts";
import { useSiteServer } from "../contract/site_server.ts";
import { connectTo, readAnswers } from "../support/raw_http.ts";

const [ada, bob] = ["100001", "100002"];
const account = "slow club";
const links = { 100001: "1" };
const server = useSiteServer({}, (fixture) => ({
  ...fixture,
  accounts: [{ name: account, chatId: ada, members: [{ chatId: bob, role: "admin" }] }],
}));

const key = server.fixtures.key({ account, links });
const other = server.fixtures.key({ account });

/** Sends a request whose last byte follows only after `change`. A node may trust a key for 750 milliseconds. */
const sendSlowly = async (
  line: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  change: () => Promise<unknown>,
): Promise<number | undefined> => {
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
  return answer?.status;
};

const gameOf = async () =>
  (await server.send("GET /v2/chat?chatId=100001", { key: other })).body.data?.["gameId"];

test("a write whose key is revoked before the end of its body is refused", async () => {
  const body = JSON.stringify({ chatId: "100001", gameId: "2" });
  const headers = { authorization: `Bearer ${key}` };
  const nothing = () => Promise.resolve();
  expect(await sendSlowly("PATCH /v2/game", headers, body, nothing)).toBe(200);
  const again = JSON.stringify({ chatId: "100001", gameId: "3" });
  const revoke = () => server.send("POST /v2/keys/leaked", { body: { key } });
  expect(await sendSlowly("PATCH /v2/game", headers, again, revoke)).toBe(401);
  expect(await gameOf()).toBe("2");
});

test("a write of a member who is removed from the team before the end of its body is refused", async () => {
  const owner = await signInOwner(server, ada);
  const member = await signInOwner(server, bob);
  const headers = headersOf(member.browser, server.url(), member.csrfToken);
  const remove = () => owner.send(`DELETE /dashboard/api/members/${bob}`);
  const body = JSON.stringify({ name: "Late", scope: "global" });
  expect(await sendSlowly("POST /dashboard/api/keys", headers, body, remove)).toBe(401);
  const { body: listed } = await owner.send("GET /dashboard/api/keys");
  expect(JSON.stringify(listed)).not.toContain("Late");
});
