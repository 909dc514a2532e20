/** Attacks on a verification: each one is refused and changes no link. */
import { expect, test } from "vitest";
import { formOf } from "../support/flow_browser.ts";
import { clientOrigin, expectPage, useFlowServer } from "./flow_server.ts";

const hostile = `<script>alert(1)</script>"'&<img src=x onerror=alert(1)>`;
const { fixtures, newBrowser, setup, read, gameOf } = useFlowServer({}, (fixture) => {
  const { chatUsers = [], gameUsers = [] } = fixture.platform ?? {};
  const renamed = { displayName: hostile, username: hostile };
  return {
    platform: {
      chatUsers: [...chatUsers, { id: "200001", ...renamed, avatar: "https://a;script-src 'x'/p.png" }],
      gameUsers: [
        ...gameUsers,
        { id: "77", ...renamed, avatar: { headshot: "javascript:alert(1)", fullBody: null } },
      ],
    },
  };
});

const hostileKey = fixtures.key({ account: hostile });

const used = [400, "This sign-in cannot be used"] as const;
const forged = [403, "This form cannot be used"] as const;
const lost = [400, "This page is out of date"] as const;

test("callbacks are refused in a browser that did not start the sign-in", async () => {
  const { browser, bySid, key } = await setup();
  const victim = newBrowser();
  const callback = await browser.signIn(await browser.leave("chat", bySid), "100001");
  expectPage(await victim.get(callback), ...lost);
  await victim.leave("chat", bySid);
  expectPage(await victim.get(callback), ...used);
  // The refused attempts of the other browser do not stop the sign-in of the browser that started it.
  expect((await browser.get(callback)).status).toBe(303);
  expect(await gameOf(key)).toBe(null);
});

test("callbacks are refused with a used state or code", async () => {
  const { browser, bySid } = await setup();
  const callback = await browser.signIn(await browser.leave("chat", bySid), "100001");
  await browser.get(callback);
  expectPage(await browser.get(callback), ...used);
  const code = new URL(callback).searchParams.get("code") ?? "";
  const next = new URL(await browser.leave("chat"));
  const replayed = new URLSearchParams({ code, state: next.searchParams.get("state") ?? "" });
  expectPage(await browser.get(`/verify/chat/callback?${replayed}`), ...used);
});

test("callbacks are refused with a state that is missing, forged, duplicated, or from the other platform", async () => {
  const { browser, bySid, key } = await setup();
  await browser.prove("chat", "100001", bySid);
  const tries = ["?code=x", "?state=&code=x", "?state=%00&code=x", `?state=${"0".repeat(43)}&code=x`];
  for (const query of tries) expectPage(await browser.get(`/verify/chat/callback${query}`), ...used);
  const ofGame = await browser.signIn(await browser.leave("game"), "1");
  expectPage(await browser.get(ofGame.replace("/game/callback", "/chat/callback")), ...used);
  const twice = await browser.signIn(await browser.leave("game"), "1");
  expectPage(await browser.get(`${twice}&state=x`), ...used);
  expect(await gameOf(key)).toBe(null);
});

test("a planted flow cookie gives the attacker no access after the user has signed in", async () => {
  const { browser, bySid, key } = await setup();
  const attacker = newBrowser();
  await attacker.leave("chat", bySid);
  for (const [name, value] of attacker.cookies) browser.cookies.set(name, value);
  const page = await browser.walk(bySid);
  expect((await attacker.get(`/verify${bySid}`)).text).not.toContain("User 1");
  expectPage(await attacker.post("/verify/confirm", formOf(page)), ...lost);
  expect(await gameOf(key)).toBe(null);
});

test("an attacker who plants a flow cookie cannot make the user's browser finish the attacker's sign-in", async () => {
  const { browser, bySid } = await setup();
  const attacker = newBrowser();
  const begun = await attacker.signIn(await attacker.leave("chat", bySid), "100002");
  for (const [name, value] of attacker.cookies) browser.cookies.set(name, value);
  await browser.prove("chat", "100001", bySid);
  expectPage(await browser.get(begun), ...used);
  expect((await browser.get(`/verify${bySid}`)).text).toContain("User 1");
});

test("a flow cookie in which the session was replaced by another one, or by nothing that can be read, finds no flow", async () => {
  const [{ browser, bySid, key, sid }, other] = [await setup(), await setup()];
  const form = formOf(await browser.walk(bySid));
  const [token, deadline] = (browser.cookies.get("accountlink_flow") ?? "").split(".");
  for (const entry of [JSON.stringify({ sid: other.sid }), "null", ""]) {
    browser.cookies.set(
      "accountlink_flow",
      `${token}.${deadline}.${Buffer.from(entry).toString("base64url")}`,
    );
    expectPage(await browser.post("/verify/confirm", form), ...lost);
  }
  expect([await gameOf(key), (await read(key, sid)).state]).toEqual([null, "opened"]);
  expect((await read(other.key, other.sid)).state).toBe("pending");
});

const redirecting = fixtures.key({ redirectOrigins: [clientOrigin] });

test("the flow cookie is HttpOnly and SameSite=Lax, and leaves out an entry that is too long for it", async () => {
  const { browser, bySid, byPid } = await setup({}, redirecting);
  const [line = ""] = (await browser.get(`/verify${bySid}`)).headers["set-cookie"] ?? [];
  expect(line).toMatch(/^accountlink_flow=[\w-]{43}\.[\da-z]+\.[\w-]+; Path=\/; HttpOnly; SameSite=Lax$/i);
  const redirect = encodeURIComponent(`${clientOrigin}/${"\u6F22".repeat(1_000)}`);
  expectPage(await browser.get(`/verify${byPid}&redirect=${redirect}`), 200, "Link your accounts");
  expect(browser.cookies.get("accountlink_flow")?.length).toBeLessThan(100);
});

test("forms of the flow are refused without the CSRF token, or with the token of another page", async () => {
  const { browser, bySid, byPid, key, sid } = await setup();
  const page = await browser.walk(bySid);
  const other = await newBrowser().get(`/verify${bySid}`);
  const ofScope = await browser.get(`/verify${byPid}`);
  const forms = [
    {},
    { csrf: "" },
    { csrf: "x", sid },
    { ...formOf(page), csrf: formOf(other).csrf ?? "" },
    { ...formOf(page), csrf: formOf(ofScope).csrf ?? "" },
  ];
  for (const form of forms) {
    expectPage(await browser.post("/verify/confirm", form), ...forged);
    expectPage(await browser.post("/verify/cancel", form), ...forged);
  }
  expect([await gameOf(key), (await read(key, sid)).state]).toEqual([null, "opened"]);
  expectPage(await browser.post("/verify/confirm", formOf(page)), 200, "Your accounts are linked");
});

test("forms of the flow are refused if they are too large or not form-encoded", async () => {
  const { browser, bySid, key } = await setup();
  const page = await browser.walk(bySid);
  const large = { ...formOf(page), filler: "x".repeat(5_000) };
  expectPage(await browser.post("/verify/confirm", large), 413, "This form cannot be read");
  expectPage(await browser.post("/verify/confirm", JSON.stringify(formOf(page))), ...forged);
  expect(await gameOf(key)).toBe(null);
});

test("pages escape hostile names and values", async () => {
  const { browser, bySid, byPid } = await setup({ clientId: hostile }, hostileKey);
  const page = await browser.walk(bySid, "200001", "77");
  expectPage(page, 200, "Is this right?");
  expect(page.text).toContain("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;&lt;img src=x");
  // An avatar URL whose host would break the Content-Security-Policy is not shown.
  expect(page.text).not.toContain("<img");
  expectPage(await browser.post("/verify/confirm", formOf(page)), 200, "Your accounts are linked");
  const query = new URLSearchParams({ guildId: hostile, redirect: hostile, x: hostile });
  expectPage(await browser.get(`/verify${byPid}&${query}`), 400, "This address is not complete");
  expectPage(
    await browser.get(`/verify?sid=${encodeURIComponent(hostile)}`),
    404,
    "This address does not work",
  );
  const denied = `/verify/chat/callback?${new URLSearchParams({ error: hostile, state: hostile })}`;
  await browser.leave("chat", byPid);
  expectPage(await browser.get(denied), ...used);
});
