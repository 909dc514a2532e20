/**
 * The alt detection page, used with plain forms and without a script. Only Premium accounts can use the page, and only
 * for their own communities.
 */
import { expect, test } from "vitest";
import { guild } from "../support/fixtures.ts";
import { formOf } from "../support/flow_browser.ts";
import { useSiteServer } from "./site_server.ts";

const [owner, freeOwner] = ["100001", "100002"];
const { fixtures, send, signIn } = useSiteServer({}, (fixture) => ({
  ...fixture,
  accounts: [
    { name: "acme", chatId: owner, tier: "premium" },
    { name: "free", chatId: freeOwner, tier: "free" },
  ],
}));
const seenAt = new Date().toISOString();
const key = fixtures.key({
  account: "acme",
  tier: "premium",
  links: { 100011: "1", 100012: "1" },
  sightings: ["100011", "100012"].map((chatId) => ({ chatId, ip: "203.0.113.7", device: "phone", seenAt })),
});
// The page lets the owner choose between two scopes.
fixtures.key({ account: "acme", tier: "premium", guildId: guild });
fixtures.key({ account: "free", links: { 100011: "1", 100012: "1" } });

const page = "/dashboard/alts";

const pidsOn = (text: string) => [...text.matchAll(/<option value="(pid_\w+)"/g)].map(([, pid = ""]) => pid);

test("the alts page stores, lists and deletes reviews, and API requests get answers that follow the reviews", async () => {
  const browser = await signIn(owner);
  const [pid = ""] = pidsOn((await browser.get(page)).text);
  const shown = await browser.get(`${page}?pid=${pid}&kind=game&id=1`);
  const { csrf = "" } = formOf(shown);
  const [, chatId = ""] = /name="chatId" value="(\d+)"/.exec(shown.text) ?? [];
  const otherChatId = chatId === "100011" ? "100012" : "100011";
  const pair = { pid, kind: "game", id: "1", chatId, otherChatId };
  const review = (fields: object) => browser.post(`${page}/reviews`, { ...pair, csrf, ...fields });
  const reviewed = await review({ verdict: "different", note: " Brothers " });
  expect([reviewed.status, reviewed.headers.location]).toEqual([
    303,
    `${page}?pid=${pid}&kind=game&id=1&done=reviewed`,
  ]);
  const listed = await send(`GET /v2/alts/reviews?chatId=${chatId}`, { key });
  expect(listed.body.data).toMatchObject({
    reviews: [{ otherChatId, verdict: "different", note: "Brothers", keyId: null }],
  });
  expect((await send(`GET /v2/alts?chatId=${chatId}`, { key })).body.data).toMatchObject({ matches: [] });

  expect((await review({ verdict: "different", note: "x".repeat(501) })).status).toBe(400);
  expect((await review({ verdict: "same", csrf: "wrong" })).status).toBe(403);
  expect((await review({ verdict: "same", otherChatId: chatId })).status).toBe(400);
  expect((await review({ verdict: "none" })).headers.location).toContain("done=forgotten");
  expect((await send(`GET /v2/alts/reviews?chatId=${chatId}`, { key })).body.data).toEqual({ reviews: [] });
});

test("the alts page refuses free accounts and communities of other accounts", async () => {
  const [browser, other] = [await signIn(owner), await signIn(freeOwner)];
  const [pid = ""] = pidsOn((await browser.get(page)).text);
  const free = await other.get(`${page}?id=100011`);
  expect([free.status, free.text.includes("part of Premium accounts")]).toEqual([200, true]);
  const { csrf = "" } = formOf(free);
  const fields = { csrf, pid, chatId: "100011", otherChatId: "100012", verdict: "same" };
  expect((await other.post(`${page}/reviews`, fields)).status).toBe(403);
  expect((await browser.get(`${page}?pid=pid_00000000000000000000&id=100011`)).status).toBe(404);
});
