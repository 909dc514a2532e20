/** The pages on which users see, remove and erase their data. */
import { expect, test } from "vitest";
import { daysAgo, guild } from "../support/fixtures.ts";
import { type FlowBrowser, formOf, locationOf, withoutIsolation } from "../support/flow_browser.ts";
import { textOf } from "../support/http.ts";
import { expectConflict, expectRefusal } from "./contract_server.ts";
import { expectPage } from "./flow_server.ts";
import { exportOf, useSiteServer } from "./site_server.ts";

const owner = "100007";
const { fixtures, send, signIn, newBrowser } = useSiteServer();
fixtures.account({ name: "owned", chatId: owner, tier: "free", team: { 100032: "moderator" } });

const at = "2026-01-02T03:04:05.000Z";
const linked = (...chatIds: ReadonlyArray<string>) =>
  Object.fromEntries(chatIds.map((chatId) => [chatId, { gameId: "1", at }]));

const open = (chatId: string) => signIn(chatId, newBrowser(), "me");

/** Returns the fields of the form on /me that removes a link. */
const removalOf = async (browser: FlowBrowser, pid: string) => ({
  csrf: formOf(await browser.get("/me"))["csrf"] ?? "",
  pid,
});

const pidsOn = (text: string) => [...text.matchAll(/name="pid" value="([^"]*)"/g)].map(([, pid = ""]) => pid);

const ada = "100001";
fixtures.key({ account: "acme <b>&", links: linked(ada, "100002") });
fixtures.key({ account: "guilds", guildId: guild, links: linked(ada) });

const collector = "100033";
for (let list = 0; list <= 50; list++) {
  const day = new Date(Date.parse(at) + list * 86_400_000).toISOString();
  fixtures.key({ account: `list ${list}`, links: { [collector]: { gameId: "2", at: day } } });
}

test("/me shows links by community, with the date and game user", async () => {
  const answer = await (await open(ada)).get("/me");
  expectPage(answer, 200, "Your data", "2 communities know");
  expect(answer.text).toContain('<h3><bdi dir="auto">Rook &amp; Bishop</bdi></h3>');
  expect(answer.text).toContain('<h3><bdi dir="auto">acme &lt;b&gt;&amp;</bdi></h3>');
  expect(answer.text).toContain('<bdi dir="auto">@player_1</bdi> · ID 1');
  expect(answer.text).toContain('<time datetime="2026-01-02">January 2, 2026</time>');
  expect(pidsOn(answer.text)).toHaveLength(2);
});

test("/me shows 50 links, the newest first, and the older ones on further pages", async () => {
  const browser = await open(collector);
  const [first, second] = [(await browser.get("/me")).text, (await browser.get("/me?from=50")).text];
  expect([pidsOn(first).length, pidsOn(second).length]).toEqual([50, 1]);
  expect(new Set([...pidsOn(first), ...pidsOn(second)]).size).toBe(51);
  expect([first.includes('href="/me?from=50"'), second.includes("/me?from=")]).toEqual([true, false]);
  expect([first.includes("list 50<"), first.includes("list 0<"), second.includes("list 0<")]).toEqual([
    true,
    false,
    true,
  ]);
  expect(first.indexOf("list 50<")).toBeLessThan(first.indexOf("list 1<"));
});

test("/me shows links only to their user", async () => {
  for (const path of ["/me", "/me/export"]) {
    const signedOut = await newBrowser().get(path);
    expect([signedOut.status, signedOut.headers.location]).toEqual([303, "/me/sign-in"]);
  }
  const { text } = await (await open("100002")).get("/me");
  expect(pidsOn(text)).toHaveLength(1);
  const none = await (await open("100030")).get("/me");
  expectPage(none, 200, "Your data", "No community has a link of this account", 'href="/go"');
});

const [fay, gus] = ["100008", "100010"];
const seenAt = daysAgo(1);
const sightings = [fay, gus].map((chatId, index) => ({
  chatId,
  ip: `203.0.113.${20 + index}`,
  device: chatId,
  seenAt,
}));
const keeper = fixtures.key({ account: "keeper", links: linked(fay, gus), sightings });
fixtures.key({ account: "keeper", guildId: guild, links: linked(fay), sightings });

test("/me shows the user's full IP addresses and browsers, each with its communities", async () => {
  const { text } = await (await open(fay)).get("/me");
  expect(text).toContain('<h3><bdi dir="ltr">203.0.113.20</bdi></h3>');
  expect(text).not.toContain("203.0.113.21");
  const places = /Confirmed for (keeper and Rook &amp; Bishop|Rook &amp; Bishop and keeper)/g;
  expect(withoutIsolation(text).match(places)).toHaveLength(2);
  expect(text).toContain(`Used on <time datetime="${seenAt.slice(0, 10)}">`);
  expect(text).toContain('action="/me/export"');
});

test("/me shows days and numbers as the reader's language does, and no ISO dates", async () => {
  const browser = await open(fay);
  browser.cookies.set("accountlink_language", "de");
  const { text } = await browser.get("/me");
  expect(text).toContain(`<time datetime="2026-01-02">2. Januar 2026</time>`);
  expect(text.replaceAll(/<[^>]*>/g, "")).not.toMatch(/\d{4}-\d\d-\d\d/);
});

test("the export of /me is a file that names no other user", async () => {
  const answer = await exportOf(await open(fay));
  expect(answer).toMatchObject({
    status: 200,
    headers: {
      "content-disposition": 'attachment; filename="my_data.json"',
      "content-type": "application/json",
      "cache-control": "no-store",
    },
  });
  const community = { account: "keeper", guildId: null, name: null };
  const { body: data } = answer;
  expect(data).toMatchObject({ chatId: fay, accounts: [], reviews: [], roles: [], memberships: [] });
  expect(data["links"]).toHaveLength(2);
  expect(data["links"]).toContainEqual({
    community: { ...community, pid: expect.stringMatching(/^pid_/) as unknown },
    gameId: "1",
    linkVersion: 1,
    linkedAt: at,
    lastVerifiedAt: at,
    proof: null,
  });
  const seen = { community: expect.objectContaining(community) as unknown, seenAt };
  expect(data["sightings"]).toContainEqual({ ...seen, address: "203.0.113.20" });
  expect(data["browsers"]).toContainEqual({ ...seen, browser: 1, firstSeenAt: seenAt });
  expect(answer.text).not.toMatch(new RegExp(`${gus}|203\\.0\\.113\\.21`));
});

test("the export of /me has accounts, team roles and audit entries of the user", async () => {
  const answer = await exportOf(await open(owner));
  expect(answer.body).toMatchObject({
    accounts: [{ name: "owned", chatId: owner, tier: "free" }],
    memberships: [{ account: "owned", role: "owner", communities: null }],
    signIns: [{ site: "me" }],
  });
  await send("PATCH /v2/game", { key: keeper, body: { chatId: owner, gameId: "2" } });
  const { entries } = (await exportOf(await open(owner))).body;
  expect(entries).toMatchObject([{ action: "link.set", details: { chatId: owner, gameId: "2" } }]);
});

test("/me/export shows a form, and only the form with its CSRF token downloads the file", async () => {
  const browser = await open(fay);
  const page = await browser.get("/me/export");
  expectPage(page, 200, "Download your data");
  expect(page.text).not.toContain("203.0.113.20");
  expectPage(await browser.post("/me/export", { csrf: "wrong" }), 403, "This form cannot be used");
});

test("/me limits exports to ten a day", async () => {
  const browser = await open(gus);
  for (let i = 0; i < 10; i++) expect((await exportOf(browser)).status).toBe(200);
  const refused = await exportOf(browser);
  expectPage(refused, 429, "Enough downloads for today");
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
});

const kim = "100012";
const ip = "203.0.113.40";
fixtures.key({ links: linked(kim), sightings: [{ chatId: kim, ip, device: "phone", seenAt }] });

test("a user forgets the addresses and keeps the browsers, or the other way round", async () => {
  const browser = await open(kim);
  const { csrf = "" } = formOf(await browser.get("/me"));
  for (const what of ["addresses", "browsers"]) {
    expectPage(await browser.post(`/me/${what}/forget`, { csrf: "wrong" }), 403, "This form cannot be used");
  }
  expect((await browser.get("/me")).text).toContain(ip);
  const forgotten = await browser.post("/me/addresses/forget", { csrf });
  expectPage(forgotten, 200, "Your IP addresses are forgotten");
  const { text } = await browser.get("/me");
  expect([text.includes(ip), text.includes("Browser 1")]).toEqual([false, true]);
  expectPage(await browser.post("/me/browsers/forget", { csrf }), 200, "Your browsers are forgotten");
  expect((await browser.get("/me")).text).not.toContain("Browser 1");
});

const bob = "100003";
const removing = fixtures.key({ links: linked(bob, "100004") });
const keeping = fixtures.key({ links: linked(bob) });
const gameOf = async (chatId: string, key = removing) =>
  (await send(`GET /v2/verifications/chat?chatId=${chatId}`, { key })).body.data?.gameId;

test("a user removes only the chosen link, and open sessions of its scope fail", async () => {
  const browser = await open(bob);
  const [pid = "", kept = ""] = pidsOn((await browser.get("/me")).text);
  const body = { clientId: "client", chatId: bob };
  const session = await send("POST /v2/sessions", { key: removing, body });
  const removals = await removalOf(browser, pid);
  expect((await browser.get("/me")).text).toMatch(
    /name="pid" value="[^"]*"><input[^>]* name="seen" value="1"/,
  );
  // The link that the page showed is gone, and the one of now was not what the user wanted to remove.
  expectPage(await browser.post("/me/remove", { ...removals, seen: "2" }), 404, "There is no such link");
  expectPage(await browser.post("/me/remove", { ...removals, seen: "1" }), 200, "The link is removed");
  expectPage(await browser.post("/me/remove", removals), 404, "There is no such link");
  expect(pidsOn((await browser.get("/me")).text)).toEqual([kept]);
  const left = await Promise.all([gameOf(bob), gameOf(bob, keeping)]);
  expect(new Set(left)).toEqual(new Set(["1", null]));
  expect(await gameOf("100004")).toBe("1");
  const { sid, pid: sessionPid } = session.body.data ?? {};
  const read = await send(`GET /v2/sessions/${textOf(sid)}`, { key: removing });
  expect(read.body.data).toMatchObject(
    textOf(sessionPid) === pid ? { state: "failed", error: "link_removed" } : { state: "pending" },
  );
});

test("removing a link on /me needs a valid CSRF token, and the link must be the user's own", async () => {
  const [browser, stranger] = [await open("100004"), await open("100030")];
  const [pid = ""] = pidsOn((await browser.get("/me")).text);
  const { csrf } = await removalOf(browser, pid);
  const { csrf: theirs = "" } = formOf(await stranger.get("/me/erase"));
  for (const forged of ["", "wrong", theirs]) {
    const refused = await browser.post("/me/remove", { csrf: forged, pid });
    // Also said of a page from before the newest sign-in.
    expectPage(refused, 403, "This form cannot be used", "not come from the latest page in this browser");
  }
  const missing = "There is no such link";
  expectPage(await stranger.post("/me/remove", { csrf: theirs, pid }), 404, missing);
  expectPage(await browser.post("/me/remove", { csrf, pid: "pid_0" }), 404, missing);
  expect(await gameOf("100004")).toBe("1");
});

const eve = "100005";
const seen = { sightings: [{ chatId: eve, ip: "203.0.113.7", seenAt }] };
fixtures.key({ links: linked(eve), ...seen });
const other = fixtures.key({ links: linked(eve, "100006"), ...seen });
const owned = fixtures.key({ account: "owned", links: linked(owner, "100031") });
const lookUp = (chatId: string, key = other) => send(`GET /v2/chat?chatId=${chatId}`, { key });

test("an erasure needs a confirmation, deletes all data and signs the user out", async () => {
  const browser = await open(eve);
  const asked = await browser.get("/me/erase");
  expectPage(asked, 200, "Erase everything?");
  const { csrf = "" } = formOf(asked);
  expectPage(await browser.post("/me/erase", { csrf }), 400, "Nothing was erased");
  expectPage(await browser.post("/me/erase", { confirm: "erase" }), 403, "This form cannot be used");
  const headers = { "idempotency-key": "before" };
  const again = { key: other, headers, body: { chatId: eve, gameId: "1" } };
  expect((await send("PATCH /v2/game", again)).status).toBe(200);
  const elsewhere = await open(eve);
  const erased = await browser.post("/me/erase", { csrf, confirm: "erase" });
  expectPage(erased, 200, "Everything is erased", "2 records of links", "1 IP address");
  expect(erased.text).not.toContain("moderator");
  expect(erased.headers["set-cookie"]?.join()).toContain("accountlink_me=;");
  const twice = await browser.get(locationOf(await browser.post("/me/erase", { csrf, confirm: "erase" })));
  expectPage(twice, 200, "You are signed out");
  expect(twice.text).not.toContain("not saved");
  for (const each of [browser, elsewhere]) {
    expect((await each.get("/me")).headers.location).toBe("/me/sign-in");
  }
  expectRefusal(await lookUp(eve), 404, "LINK_NOT_FOUND", null);
  expectConflict(await send("PATCH /v2/game", again), "user_erased");
  expect((await lookUp("100006")).status).toBe(200);
  expect(pidsOn((await (await open(eve)).get("/me")).text)).toEqual([]);
});

test("an erasure on /me revokes the API keys that the user owns, and the page says so before the erasure", async () => {
  const stranger = await open("100030");
  expect((await stranger.get("/me/erase")).text).not.toContain("API key");
  const browser = await open(owner);
  const asked = await browser.get("/me/erase");
  expect(asked.text).toMatch(/<strong>1 API key<\/strong> stops working at once\.\sNobody is left in charge/);
  expect(withoutIsolation(asked.text)).toMatch(
    /Still in its team: User 32\.\sTo keep it running, <a href="\/dashboard\/team">make one of them an owner<\/a> first\./,
  );
  expect(asked.text).toContain("1 link of a user stays.");
  expect((await lookUp("100001", owned)).status).toBe(404);
  const erased = await browser.post("/me/erase", { ...formOf(asked), confirm: "erase" });
  expect(erased.text).toContain("1 API key, which no longer works");
  expectRefusal(await lookUp("100001", owned), 401, "INVALID_API_KEY", null);
});
