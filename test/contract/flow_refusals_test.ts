/** Refusals of the public flow: each has its own status and page, and changes no link. */
import { expect, test } from "vitest";
import { internalCause, startOnBrokenStores } from "../support/broken_stores.ts";
import { botlessGuild, guild } from "../support/fixtures.ts";
import { formOf, titleOf } from "../support/flow_browser.ts";
import type { Answer } from "../support/http.ts";
import { languageOf } from "../support/languages.ts";
import { expectInvalid } from "./contract_server.ts";
import { clientOrigin, expectPage, useFlowServer } from "./flow_server.ts";

const { fixtures, send, platform, newBrowser, setup, read, gameOf } = useFlowServer({
  ACCOUNTLINK_IP_VERIFY_DAILY: "1",
});

const [lastPage, linked] = ["accountlink_last_page", "Your accounts are linked"];
const [incomplete, unusable] = ["This address is not complete", "This address does not work"];

test.each([
  ...["", "?sid=", "?pid=", "?sid=vs_&sid=x", "?guildId=1", "?pid=pid_0&guildId=abc"].map(
    (path) => [400, incomplete, path] as const,
  ),
  ...["?sid=%zz", "/chat/callback?state=%", "/%zz"].map((path) => [400, incomplete, path] as const),
  ...["/nothing", "/nothing/", "/chat"].map((path) => [404, unusable, path] as const),
])("a verification link is refused with %i %s: /verify%s", async (status, title, path) => {
  expectPage(await newBrowser().get(`/verify${path}`), status, title);
});

test.each([`sid=vs_${"0".repeat(43)}`, "sid=vs_", "pid=pid_0000000000000000", "pid=%00", "sid=%00"])(
  "a verification link is refused with an unknown sid or pid: %s",
  async (query) => {
    expectPage(await newBrowser().get(`/verify?${query}`), 404, unusable, 'href="/go"');
  },
);

const wrongRedirects = [
  `${clientOrigin}.evil.example/`,
  "https:\\\\evil.example\\@client.example/",
  "javascript:alert(1)//https://client.example",
];
const redirecting = fixtures.key({ redirectOrigins: [clientOrigin] });

test.each(wrongRedirects)("a verification link is refused with a redirect to %j", async (redirect) => {
  const { browser, byPid } = await setup({}, redirecting);
  const query = `${byPid}&redirect=${encodeURIComponent(redirect)}`;
  for (const path of ["/verify", "/verify/chat/start"]) {
    expectPage(await browser.get(path + query), 400, "This address is not safe");
  }
  const body = { clientId: "client", redirect };
  const created = await send("POST /v2/sessions", { key: redirecting, from: fixtures.address(), body });
  expectInvalid(created, "redirect");
});

const vouched = fixtures.key({ owner: "100001" });
// The plan of another account vouches for nobody.
fixtures.key({ account: "planned" });
fixtures.plan({
  account: "planned",
  guildId: guild,
  nickname: "{game.username}",
  state: "on",
});

test("a guild in the link of a global scope is unknown unless somebody of the account manages it", async () => {
  const { browser, byPid } = await setup({}, vouched);
  for (const guildId of [guild, botlessGuild, "799999999999999999"]) {
    const page = await browser.get(`/verify${byPid}&guildId=${guildId}`);
    expectPage(page, 404, unusable);
    expect(page.text).not.toContain("Rook");
  }
  expectPage(await browser.get(`/verify${byPid}`), 200, "Link your accounts");
});

const account = "closed";
const closed = fixtures.key({ account });
fixtures.key({ account, guildId: guild, redirectOrigins: [clientOrigin] });
fixtures.key({ account, status: "disabled", redirectOrigins: [clientOrigin] });

test("a verification link is refused if only inactive keys and keys of other scopes allow its redirect", async () => {
  const redirect = `&redirect=${encodeURIComponent(`${clientOrigin}/`)}`;
  const { browser, byPid } = await setup({}, closed);
  expectPage(await browser.get(`/verify${byPid}${redirect}`), 400, "This address is not safe");
});

test("a verification link is refused after its key was revoked", async () => {
  const { browser, bySid, byPid, key } = await setup();
  const page = await browser.walk(bySid);
  await send("POST /v2/keys/leaked", { body: { key } });
  for (const answer of [
    await browser.get(`/verify${bySid}`),
    await browser.get(`/verify${byPid}`),
    await browser.get(`/verify/chat/start${byPid}`),
    await browser.post("/verify/confirm", formOf(page)),
  ]) {
    expectPage(answer, 404, unusable);
  }
});

test("a user is refused if the session is for another chat user", async () => {
  const { browser, bySid, key } = await setup({ chatId: "100002" });
  const callback = await browser.signIn(await browser.leave("chat", bySid), "100001");
  // The sign-in is used up, but a page that is loaded again says what it said before.
  for (const refused of [await browser.get(callback), await browser.get(callback)]) {
    expectPage(refused, 403, "This verification is for somebody else", `href="/verify${bySid}"`);
    expect(refused.text).toMatch(/You are signed in as:.*User 1\b.*ID 100001/s);
  }
  expect((await browser.get(`/verify${bySid}`)).text).not.toContain("User 1");
  expect(await gameOf(key)).toBe(null);
});

const guildKey = fixtures.key({ guildId: guild });

test("a user is refused if the bot is not in the guild, or if the scope is another guild's", async () => {
  const { browser, byPid } = await setup();
  const other = await setup({ guildId: guild }, guildKey);
  const elsewhere = await other.browser.get(`/verify${other.byPid}&guildId=${botlessGuild}`);
  expectPage(elsewhere, 403, "The community is not available");
  const query = `${byPid}&guildId=${botlessGuild}`;
  expectPage(await browser.prove("chat", "100001", query), 403, "The community is not available");
});

test.each(["chat", "game"] as const)("a user who denies the %s sign-in can try again", async (step) => {
  const { browser, bySid, key } = await setup();
  if (step === "game") await browser.prove("chat", "100001", bySid);
  const denied = await browser.prove(step, { deny: true }, step === "chat" ? bySid : "");
  expectPage(denied, 403, "You did not sign in");
  await browser.post("/verify/confirm", formOf(await browser.walk(bySid)));
  expect(await gameOf(key)).toBe("1");
});

test("a user is refused if they sign in to the game platform first, or confirm before both sign-ins", async () => {
  const { browser, bySid } = await setup();
  expectPage(await browser.get(`/verify/game/start${bySid}`), 400, "Something is missing");
  await browser.prove("chat", "100001", bySid);
  const form = formOf(await browser.get(`/verify${bySid}`));
  expectPage(await browser.post("/verify/confirm", form), 400, "Something is missing");
});

test("a user with two verifications in one browser can go on with each", async () => {
  const { browser, bySid, sid, key } = await setup();
  const page = await browser.walk(bySid);
  const other = await setup({}, key);
  const next = await browser.walk(other.bySid);
  const refused = await browser.post("/verify/confirm", formOf(page));
  expectPage(refused, 400, "Something is missing", `href="/verify${bySid}"`);
  expect((await browser.post("/verify/confirm", formOf(next))).status).toBe(200);
  const again = await browser.post("/verify/confirm", formOf(await browser.walk(bySid)));
  expectPage(again, 200, "Your accounts are linked");
  expect(await read(key, sid)).toMatchObject({ state: "completed" });
});

test("a user is refused if the browser has no verification cookie", async () => {
  const { browser } = await setup();
  for (const path of ["/verify/chat/start", "/verify/game/start", "/verify/chat/callback?state=x&code=y"]) {
    expectPage(await browser.get(path), 400, "This page is out of date");
  }
  for (const path of ["/verify/confirm", "/verify/cancel"]) {
    expectPage(await browser.post(path, {}), 400, "This page is out of date");
  }
});

test("a user is refused if their address confirmed too often without a session", async () => {
  const { browser, byPid, key } = await setup();
  await browser.post("/verify/confirm", formOf(await browser.walk(byPid)));
  const refused = await browser.post("/verify/confirm", formOf(await browser.walk(byPid, "100001", "2")));
  expectPage(refused, 429, "Too many requests");
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
  expect(refused.text).toContain(`href="/verify${byPid}"`);
  expect(await gameOf(key)).toBe("1");
});

test.each([
  ["GET /verify/confirm", "POST, OPTIONS"],
  ["GET /verify/cancel", "POST, OPTIONS"],
  ["POST /verify?sid=vs_", "GET, HEAD, OPTIONS"],
  ["POST /verify/chat/start", "GET, HEAD, OPTIONS"],
  ["POST /verify/style.css", "GET, HEAD, OPTIONS"],
  ["PUT /go", "GET, POST, HEAD, OPTIONS"],
] as const)("a method that a path of the flow does not support is refused: %s", async (line, allow) => {
  const answer = await send(line);
  expectPage(answer, 405, "This address is not a page");
  expect(answer.headers.allow).toBe(allow);
});

test.each(["temporarily_unavailable", "x"])(
  "an OAuth error is no outage, and answered 400: %s",
  async (error) => {
    const { browser, bySid } = await setup();
    const outages = async () => (await send("GET /metrics")).text.match(/route="verify",status="503"/g);
    const before = await outages();
    const visitor = newBrowser();
    const madeUp = `/verify/chat/callback?error=${error}&state=x`;
    expectPage(await visitor.get(madeUp), 400, "This page is out of date");
    const state = new URL(await browser.leave("chat", bySid)).searchParams.get("state") ?? "";
    expectPage(await browser.get(madeUp), 400, "This sign-in cannot be used");
    const own = `/verify/chat/callback?error=${error}&state=${state}`;
    expectPage(await browser.get(own), 400, "This sign-in cannot be used");
    expect(await outages()).toEqual(before);
  },
);

test("a user is refused if the game does not know the account that signed in", async () => {
  const { browser, bySid, key, sid } = await setup();
  await browser.prove("chat", "100001", bySid);
  const returned = await browser.signIn(await browser.leave("game"), "9");
  const route = "GET /game/api/users/:gameId";
  await platform.fail({ mode: "refused", code: "unknown_user", platform: "game", route });
  const refused = await browser.get(returned);
  await platform.recover();
  expectPage(refused, 400, "This sign-in cannot be used");
  expect(await read(key, sid)).toMatchObject({ state: "opened", gameId: null });
});

test.each(["chat", "game"] as const)("a %s sign-in can be started again after an outage", async (step) => {
  const { browser, bySid, key } = await setup();
  if (step === "game") await browser.prove("chat", "100001", bySid);
  const user = step === "chat" ? "100001" : "1";
  const callback = await browser.signIn(await browser.leave(step, step === "chat" ? bySid : ""), user);
  await platform.fail({ mode: "down", platform: step, under: `/${step}/oauth/token` });
  const refused = await browser.get(callback);
  await platform.recover();
  expectPage(refused, 503, `No answer from the ${step} platform`);
  expect(refused.headers["retry-after"]).toBe("1");
  expect(refused.text).toContain(`href="/verify${bySid}"`);
  await browser.post("/verify/confirm", formOf(await browser.walk(bySid)));
  expect(await gameOf(key)).toBe("1");
});

test.each([
  ["down", 503, "This does not work right now", "1"],
  ["broken", 500, "Something went wrong here", undefined],
] as const)(
  "the flow shows an error page when the stores are %s",
  async (state, status, title, retryAfter) => {
    const stores = await startOnBrokenStores(fixtures.fixture);
    stores.setStores(state);
    const answer = await stores.send("GET /verify?sid=vs_");
    await stores.stop();
    expectPage(answer, status, title);
    expect(answer.headers["retry-after"]).toBe(retryAfter);
    expect(answer.text).not.toContain(internalCause);
  },
);

test("the flow tells the user if the link was changed after the page was loaded", async () => {
  const { browser, bySid, key, sid } = await setup();
  const page = await browser.walk(bySid);
  await send("PATCH /v2/game", { key, body: { chatId: "100001", gameId: "2" } });
  const refused = await browser.post("/verify/confirm", formOf(page));
  expectPage(refused, 409, "Your link has changed in the meantime");
  expect([await gameOf(key), (await read(key, sid)).state]).toEqual(["2", "opened"]);
});

test("the flow shows that the client cancelled the session", async () => {
  const { browser, bySid, key, sid } = await setup();
  const page = await browser.walk(bySid);
  await send(`DELETE /v2/sessions/${sid}`, { key, from: fixtures.address() });
  expectPage(await browser.post("/verify/confirm", formOf(page)), 409, "This verification was cancelled");
  expectPage(await browser.get("/verify/game/start"), 409, "This verification was cancelled");
  expect(await gameOf(key)).toBe(null);
});

test("a finished flow shows that the user is done, also in another tab and after the back button", async () => {
  const { browser, bySid, key } = await setup();
  const page = await browser.walk(bySid);
  await browser.post("/verify/confirm", formOf(page));
  const forms = [
    await browser.post("/verify/confirm", formOf(page)),
    await browser.post("/verify/cancel", formOf(page)),
  ];
  for (const answer of forms) expectPage(answer, 409, linked);
  const late = [await browser.get(`/verify${bySid}`), await browser.get(`/verify/chat/start${bySid}`)];
  for (const answer of late) expectPage(answer, 409, "You are already done");
  expect(await gameOf(key)).toBe("1");
  expectPage(await browser.get("/verify/confirm"), 200, linked, "User 1");

  await send("DELETE /v2/game", { key, body: { chatId: "100001" }, from: fixtures.address() });
  for (const answer of [
    await browser.get("/verify/confirm"),
    await browser.post("/verify/confirm", formOf(page)),
  ])
    expectPage(answer, 409, "Your link is no longer there");
  // Without its cookie, the address of a form leads back to the verification and to the user's data.
  browser.cookies.delete(lastPage);
  const { text } = await browser.get("/verify/confirm");
  for (const address of [`/verify${bySid}`, "/me"]) expect(text).toContain(`href="${address}"`);
  const removed = await browser.get(`/verify${bySid}`);
  expectPage(removed, 409, "Your link is no longer there");
  expect(removed.text).not.toContain("the accounts are linked");
});

test("the last page of a flow without a session is shown again to its browser alone, whatever it said", async () => {
  const { browser, bySid, byPid, key } = await setup();
  const page = await browser.walk(byPid);
  await browser.post("/verify/cancel", formOf(page));
  const cancelled = [400, "Nothing was linked"] as const;
  expectPage(await browser.post("/verify/cancel", formOf(page)), ...cancelled);
  expectPage(await browser.get("/verify/cancel"), 200, cancelled[1]);

  const form = formOf(await browser.walk(byPid));
  expectPage(await browser.post("/verify/confirm", form), 200, linked);
  expectPage(await browser.post("/verify/confirm", form), 400, linked);
  expectPage(await browser.get("/verify/confirm"), 200, linked);
  // A late form of the first flow is not answered with the page of the second.
  expectPage(await browser.post("/verify/cancel", formOf(page)), 400, "This page is out of date");
  const stranger = newBrowser();
  const [body, tag = ""] = (browser.cookies.get(lastPage) ?? "").split(".");
  for (const cookie of ["", ".", "x.y", `${body}.x${tag}`, `${body}x.${tag}`]) {
    stranger.cookies.set(lastPage, cookie);
    expectPage(await stranger.get("/verify/confirm"), 405, "This address is not a page");
  }

  const later = await browser.walk(bySid, "100002", "2");
  await send("PATCH /v2/game", { key, body: { chatId: "100002", gameId: "1" } });
  const changed = [409, "Your link has changed in the meantime"] as const;
  expectPage(await browser.post("/verify/confirm", formOf(later)), ...changed);
  expectPage(await browser.post("/verify/confirm", formOf(later)), ...changed);
  expectPage(await browser.get("/verify/confirm"), ...changed);
});

test("answers of a flow stay the same page when their reader chooses another language", async () => {
  const german = await languageOf("de");
  const { browser, bySid, byPid } = await setup({ chatId: "100002" });
  const refused = await browser.prove("chat", "100001", bySid);
  const cancelling = formOf(await browser.get(`/verify${bySid}`));
  type Title = "refusal.wrong_user.title" | "refusal.cancelled.title" | "cancelled.title" | "done.title";
  const inGerman = async (page: Answer, title: Title) => {
    const [, address = ""] = /href="([^"]+)" lang="de"/.exec(page.text) ?? [];
    const translated = await browser.get(address.replaceAll("&amp;", "&"));
    browser.cookies.delete("accountlink_language");
    expect([address, titleOf(translated.text)]).toEqual([address, german.text(title)]);
    return translated;
  };
  // The page in another language offers the others again.
  await inGerman(await inGerman(refused, "refusal.wrong_user.title"), "refusal.wrong_user.title");
  await inGerman(await browser.post("/verify/cancel", cancelling), "cancelled.title");
  await inGerman(await browser.get(`/verify/chat/start${bySid}`), "refusal.cancelled.title");
  const form = formOf(await browser.walk(byPid));
  await inGerman(await browser.post("/verify/confirm", form), "done.title");
  await inGerman(await browser.post("/verify/confirm", form), "done.title");
});

const links = { 100001: "2" };

test.each([
  ["sid", fixtures.key({ links }), "Your link was removed in the meantime"],
  ["pid", fixtures.key({ links }), "Your link has changed in the meantime"],
] as const)(
  "the flow shows that the link was removed after both proofs, for a %s",
  async (by, key, title) => {
    const { browser, bySid, byPid, sid } = await setup({}, key);
    const page = await browser.walk(by === "sid" ? bySid : byPid);
    await send("DELETE /v2/game", { key, body: { chatId: "100001" } });
    expectPage(await browser.post("/verify/confirm", formOf(page)), 409, title);
    expect([await gameOf(key), (await read(key, sid)).error]).toEqual([
      null,
      by === "sid" ? "link_removed" : null,
    ]);
  },
);
