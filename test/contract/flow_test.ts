/** The public verification flow over HTTP. */
import { expect, test } from "vitest";
import { guild } from "../support/fixtures.ts";
import { formOf, locationOf, withoutIsolation } from "../support/flow_browser.ts";
import type { Answer } from "../support/http.ts";
import { clientOrigin, expectPage, useFlowServer } from "./flow_server.ts";

const { fixtures, send, setup, read, gameOf } = useFlowServer();

const kept = fixtures.key({ links: { 100001: "2" } });
const confirmed = fixtures.key({ links: { 100001: "1" } });
const redirecting = fixtures.key({ redirectOrigins: [clientOrigin] });

test("a user links both accounts, and the client sees each state of the session", async () => {
  const { browser, key, sid, bySid } = await setup();
  const entered = locationOf(await send(`GET /v2/sessions/${sid}/redirect`));
  expect(entered).toBe((await read(key, sid)).url);

  expectPage(await browser.get(entered), 200, "Link your accounts", "Sign in to the chat platform");
  expect(await read(key, sid)).toMatchObject({ state: "pending" });

  const authorizeUrl = await browser.leave("chat", bySid);
  expect(new URL(authorizeUrl).searchParams.get("code_challenge_method")).toBe("S256");
  expect(await read(key, sid)).toMatchObject({ state: "opened" });

  const callback = await browser.signIn(authorizeUrl, "100001");
  const back = await browser.get(callback);
  expect([back.status, back.headers.location]).toEqual([303, `/verify${bySid}`]);
  for (const address of [authorizeUrl, callback]) expect(address).not.toContain("100001");
  expectPage(await browser.get(locationOf(back)), 200, "Link your accounts", "User 1");
  const whole = await browser.get(locationOf(await browser.prove("game", "1")));
  expectPage(whole, 200, "Is this right?", "Player 1");
  for (const step of ["chat", "game"]) expect(whole.text).toContain(`href="/verify/${step}/start?`);
  expect(await gameOf(key)).toBe(null);

  expectPage(await browser.post("/verify/confirm", formOf(whole)), 200, "Your accounts are linked");
  expect(await gameOf(key)).toBe("1");
  expect(await read(key, sid)).toMatchObject({
    state: "completed",
    chatId: "100001",
    gameId: "1",
    linkChanged: true,
    previousGameId: null,
    proof: "oauth",
    error: null,
  });
});

test.each([
  ["HEAD", null],
  ["Sec-Purpose", { "sec-purpose": "prefetch;prerender" }],
  ["Purpose", { purpose: "prefetch" }],
  ["X-Moz", { "x-moz": "prefetch" }],
] as const)("a sign-in or callback that is fetched ahead uses nothing up: %s", async (_, headers) => {
  const { browser, key, sid, bySid } = await setup();
  const fetchAhead = (address: string) =>
    headers === null ? browser.head(address) : browser.get(address, headers);
  expect((await fetchAhead(`/verify/chat/start${bySid}`)).status).toBe(204);
  expect(await read(key, sid)).toMatchObject({ state: "pending" });
  for (const [step, as] of [
    ["chat", "100001"],
    ["game", "1"],
  ] as const) {
    const callback = await browser.signIn(await browser.leave(step, bySid), as);
    const before = new Map(browser.cookies);
    const ahead = await fetchAhead(callback);
    expect([ahead.status, ahead.headers["cache-control"]]).toEqual([204, "no-store"]);
    expect(browser.cookies).toEqual(before);
    expect((await browser.get(callback)).status).toBe(303);
  }
  await browser.post("/verify/confirm", formOf(await browser.get(`/verify${bySid}`)));
  expect(await gameOf(key)).toBe("1");
});

test("a page that is out of date leads back to its session", async () => {
  const { browser, bySid } = await setup();
  const old = formOf(await browser.get(`/verify${bySid}`));
  const callback = await browser.signIn(await browser.leave("chat", bySid), "100001");
  const begun = new Map(browser.cookies);
  await browser.get(callback);
  expectPage(await browser.post("/verify/confirm", old), 403, "This form cannot be used");
  const { sid: _, ...ofScope } = old;
  const forged = await browser.post("/verify/confirm", ofScope);
  for (const [name, value] of begun) browser.cookies.set(name, value);
  const lost = await browser.get(callback);
  expectPage(lost, 400, "This page is out of date");
  for (const { text } of [forged, lost]) expect(text).toContain(`href="/verify${bySid}"`);
  expect((await browser.get(`/verify${bySid}`)).status).toBe(200);
});

test("the page of an ended session leads on to a new verification in the community", async () => {
  const { browser, bySid, byPid } = await setup({ guildId: guild });
  const page = await browser.walk(bySid);
  await browser.post("/verify/cancel", formOf(page));
  const ended = await browser.get(`/verify${bySid}`);
  expectPage(ended, 409, "This verification was cancelled", `href="/verify${byPid}&amp;guildId=${guild}"`);
});

test("a browser that has opened a verification link needs no sid in its later URLs", async () => {
  const [{ browser, key, sid, bySid }, other] = [await setup(), await setup()];
  const csrfOf = (page: Answer) => ({ csrf: formOf(page)["csrf"] ?? "" });
  await browser.get(`/verify${bySid}`);
  await browser.prove("chat", "100001");
  const page = await browser.get(locationOf(await browser.prove("game", "1")));
  expectPage(await browser.post("/verify/confirm", csrfOf(page)), 200, "Your accounts are linked");
  expect(await read(key, sid)).toMatchObject({ state: "completed" });

  const first = await other.browser.get(`/verify${other.bySid}`);
  expectPage(await other.browser.post("/verify/cancel", csrfOf(first)), 200, "Nothing was linked");
  expect(await read(other.key, other.sid)).toMatchObject({ state: "cancelled" });
});

test("a user who is already linked to another game account is shown both accounts, and can keep the old one or cancel", async () => {
  const { browser, key, sid, bySid } = await setup({}, kept);
  const page = await browser.walk(bySid);
  expectPage(page, 200, "Which account is yours?");
  expect(withoutIsolation(page.text)).toContain("Link Player 1");
  expect(withoutIsolation(page.text)).toContain("Keep Player 2");
  for (const step of ["chat", "game"]) expect(page.text).toContain(`href="/verify/${step}/start?`);
  const before = await send("GET /v2/verifications/chat?chatId=100001", { key });
  const done = await browser.post("/verify/confirm", { ...formOf(page), keep: "1" });
  expectPage(done, 200, "Your link stays as it is", "Player 2");
  expect(await read(key, sid)).toMatchObject({
    state: "completed",
    chatId: "100001",
    gameId: "2",
    linkChanged: false,
    previousGameId: null,
    proof: null,
    completedAt: expect.any(String),
  });
  const after = await send("GET /v2/verifications/chat?chatId=100001", { key });
  expect(after.body.data).toEqual(before.body.data);
  expectPage(await browser.post("/verify/confirm", formOf(page)), 409, "Your link stays as it is");

  const other = await setup({}, key);
  const again = await browser.walk(other.bySid);
  expectPage(await browser.post("/verify/cancel", formOf(again)), 200, "Nothing was linked");
  expect(await gameOf(key)).toBe("2");
  expect(await read(key, other.sid)).toMatchObject({ state: "cancelled", linkChanged: false });
});

test("a user who confirms an existing link sees that nothing changed", async () => {
  const { browser, key, sid, bySid } = await setup({}, confirmed);
  const done = await browser.post("/verify/confirm", formOf(await browser.walk(bySid)));
  expectPage(done, 200, "Your accounts are linked", "They were already linked");
  expect(await read(key, sid)).toMatchObject({ linkChanged: false, previousGameId: "1" });
});

test("a user is redirected with the sid and state after confirming", async () => {
  const asked = { redirect: `${clientOrigin}/done?a=1` };
  const { browser, key, sid, bySid, byPid } = await setup(asked, redirecting);
  const page = await browser.walk(bySid);
  expect(page.headers["content-security-policy"]).toContain(`form-action 'self' ${clientOrigin};`);
  expect(withoutIsolation(page.text)).toContain("Afterwards, you continue to client.example.");
  const sent = await browser.post("/verify/confirm", formOf(page));
  const location = `${clientOrigin}/done?a=1&sid=${sid}&state=completed`;
  expect([sent.status, sent.headers.location]).toEqual([303, location]);
  expect(sent.headers).toMatchObject({ "referrer-policy": "no-referrer", "cache-control": "no-store" });
  const late = await browser.get(`/verify${bySid}`);
  expectPage(late, 409, "You are already done", `href="${location.replaceAll("&", "&amp;")}"`);

  const query = `${byPid}&redirect=${encodeURIComponent(`${clientOrigin}/again`)}`;
  const again = await browser.post("/verify/confirm", formOf(await browser.walk(query, "100001", "2")));
  expect(again.headers.location).toBe(`${clientOrigin}/again?state=completed`);
  expect(await gameOf(key)).toBe("2");
});

test("a user who cancels gets a link back to the client", async () => {
  const asked = { redirect: `${clientOrigin}/done?a=1` };
  const { browser, sid, bySid } = await setup(asked, redirecting);
  const page = await browser.get(`/verify${bySid}`);
  const cancelled = await browser.post("/verify/cancel", formOf(page));
  expectPage(cancelled, 200, "Nothing was linked");
  const address = `${clientOrigin}/done?a=1&amp;sid=${sid}&amp;state=cancelled`;
  expect(withoutIsolation(cancelled.text)).toContain(`href="${address}"><span>Go back to client.example`);
});

const oddOrigins = ["http://[::1]:9999", "https://a;b.example"];
const oddlyRedirecting = fixtures.key({ redirectOrigins: oddOrigins });

test.each(oddOrigins)(
  "a user is redirected to %s, which no Content-Security-Policy can name",
  async (origin) => {
    const { browser, sid, bySid } = await setup({ redirect: `${origin}/done` }, oddlyRedirecting);
    const page = await browser.walk(bySid);
    const { protocol } = new URL(origin);
    expect(page.headers["content-security-policy"]).toContain(`form-action 'self' ${protocol};`);
    const { headers } = await browser.post("/verify/confirm", formOf(page));
    expect(headers.location).toBe(`${origin}/done?sid=${sid}&state=completed`);
  },
);

test("a verification status request with a pid and without a key is redirected to the flow of the pid's scope", async () => {
  const { browser, key, byPid } = await setup();
  const entered = locationOf(await send(`GET /v2/verifications/chat${byPid}&guildId=${guild}`));
  const page = await browser.get(entered);
  expectPage(page, 200, "Link your accounts");
  expect(withoutIsolation(page.text)).toContain("Rook & Bishop".replace("&", "&amp;"));
  // The page offers no cancellation, because there is no session to cancel.
  expect(page.text).not.toContain("/verify/cancel");
  await browser.post("/verify/confirm", formOf(await browser.walk(new URL(entered).search)));
  expect(await gameOf(key)).toBe("1");
});

test("a sid takes precedence over a pid in a verification link", async () => {
  const [{ browser, key, sid }, other] = [await setup(), await setup()];
  const page = await browser.walk(`${other.byPid}&sid=${sid}`);
  await browser.post("/verify/confirm", formOf(page));
  expect([await gameOf(key), await gameOf(other.key)]).toEqual(["1", null]);
});

test("the style sheet of the flow can be cached", async () => {
  const { "cache-control": caching, "content-type": type } = (await send("GET /verify/style.css")).headers;
  expect([type, caching]).toEqual(["text/css; charset=utf-8", "public, max-age=3600"]);
});
