/** Game accounts that users have proven to another community of the deployment. */
import type { LinkProof } from "@accountlink/core/links";
import { afterEach, expect, test } from "vitest";
import { daysAgo, guild } from "../support/fixtures.ts";
import { formOf, locationOf } from "../support/flow_browser.ts";
import { type Answer, textOf } from "../support/http.ts";
import { enterDashboard, scopesOf } from "./dashboard.ts";
import { expectPage, useFlowServer } from "./flow_server.ts";
import { managedBy } from "./site_server.ts";

const owner = "100005";
const server = useFlowServer({}, managedBy([owner], [{ id: "5", name: "Proven", assignable: true }]));
const { setup, read, fixtures, send, platform, newBrowser } = server;

/** The home of the guild. Its rules give a role for a link that its owner has proven; two members are linked by hand. */
const ofGuild = fixtures.key({
  account: "club",
  owner,
  guildId: guild,
  links: { "100031": "6", "100032": "7" },
});
fixtures.plan({ account: "club", guildId: guild, rules: [{ roleId: "5", when: { is: "proven" } }] });

const linkOf = (gameId: string, proof: LinkProof, days = 1) => ({ gameId, proof, at: daysAgo(days) });

/** Another community, to which members of the guild have proven accounts in some way, or not. */
const elsewhere = fixtures.key({
  links: {
    "100006": linkOf("6", "oauth"),
    "100007": linkOf("6", "connection", 179),
    "100008": linkOf("6", "words", 181),
    "100009": linkOf("6", "words", 181),
    "100010": linkOf("6", "oauth", 179),
    "100011": linkOf("6", "known"),
    "100012": linkOf("6", "hand"),
    "100013": linkOf("6", "import"),
    "100014": linkOf("6", null),
    "100015": linkOf("6", "words"),
    "100016": linkOf("8", "words"),
    "100017": linkOf("8", "words"),
    "100018": linkOf("6", "session"),
    "100026": linkOf("6", "words"),
    "100027": linkOf("6", "words"),
    "100028": linkOf("9", "words"),
  },
});

afterEach(() => platform.recover());

/** The list of a stranger, which names two users; one of them has confirmed another link there, and removed it. */
const ofStranger = fixtures.key({
  links: { "100026": linkOf("7", "hand"), "100027": linkOf("7", "oauth") },
});

const channel = async (chatId: string) =>
  (await platform.send(`GET /chat/guilds/${guild}?as=${chatId}`)).text;

const known = ({ text }: Answer, action: "/verify/game/known" | "/me/link" = "/verify/game/known") =>
  text.includes(`action="${action}"`)
    ? [...text.matchAll(/name="gameId" value="(\d+)"/g)].map(([, gameId]) => gameId)
    : [];

/** Signs in to the chat platform in the flow of a new session. */
const enter = async (chatId: string, key?: string) => {
  const flow = await setup(key === ofGuild ? { guildId: guild } : {}, key);
  const page = await flow.browser.get(locationOf(await flow.browser.prove("chat", chatId, flow.bySid)));
  return { ...flow, page };
};

/** Opens /me, which has asked the chat platform for the user's communities. */
const openMe = async (chatId: string) => {
  const browser = newBrowser();
  const asked = locationOf(await browser.get("/me/sign-in?communities=1"));
  await browser.get(await browser.signIn(asked, chatId));
  return { browser, page: await browser.get("/me") };
};

/** The account that the answer to `/verify` offers in chat. */
const offeredInChat = async (chatId: string) => {
  const body = new URLSearchParams({ as: chatId, command: "/verify" }).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  await platform.send(`POST /chat/guilds/${guild}`, { body, headers });
  return [...(await channel(chatId)).matchAll(/Use Player (\d)/g)].map(([, gameId]) => gameId);
};

/** Expects the guild's home to offer this account, or none, to a member in the flow, in chat and on /me. */
const expectOffered = async (chatId: string, gameId: string | null) => {
  const doors = await Promise.all([
    enter(chatId, ofGuild).then(({ page }) => known(page)),
    offeredInChat(chatId),
    openMe(chatId).then(({ page }) => known(page, "/me/link")),
  ]);
  const offered = gameId === null ? [] : [gameId];
  expect(doors).toEqual([offered, offered, offered]);
};

const linkBySignIn = async (chatId: string, gameId: string, key?: string) => {
  const flow = await enter(chatId, key);
  const page = await flow.browser.get(locationOf(await flow.browser.prove("game", gameId)));
  expect((await flow.browser.post("/verify/confirm", formOf(page))).status).toBe(200);
  return flow;
};

const useKnown = async ({ browser, page }: Awaited<ReturnType<typeof enter>>, gameId: string) =>
  browser.post("/verify/game/known", { ...formOf(page), gameId });

test("an account that a user has proven to another community is linked with one press and the confirmation", async () => {
  await linkBySignIn("100021", "6");
  const second = await enter("100021");
  expect(known(second.page)).toEqual(["6"]);
  expect(second.page.text).toContain("Verified by signing in to");
  for (const gameId of ["7", "", "x"]) {
    expectPage(await useKnown(second, gameId), 400, "Something is missing");
  }
  const whole = await second.browser.get(locationOf(await useKnown(second, "6")));
  expectPage(whole, 200, "Is this right?");
  expect((await second.browser.post("/verify/confirm", formOf(whole))).status).toBe(200);
  expect(await read(second.key, second.sid)).toMatchObject({ gameId: "6", proof: "known" });
});

test.each([
  ["proven lately", "100006", "6"],
  ["proven 179 days ago", "100007", "6"],
  ["proven 181 days ago", "100008", null],
  ["linked by the way known", "100011", null],
  ["linked by a session that named it", "100018", null],
  ["linked by hand", "100012", null],
  ["imported", "100013", null],
  ["linked, nobody knows how", "100014", null],
])("whether an account is offered that another community has %s", (_, chatId, gameId) =>
  expectOffered(chatId, gameId),
);

const linkBySession = async (chatId: string) => {
  const session = await setup({ gameId: "6", chatId }, elsewhere);
  await session.browser.prove("chat", chatId, session.bySid);
  const page = await session.browser.get(`/verify${session.bySid}`);
  expect((await session.browser.post("/verify/confirm", formOf(page))).status).toBe(200);
  return session;
};

test("an account that a session of somebody's key named is offered to no other community", async () => {
  const session = await linkBySession("100024");
  expect(await read(elsewhere, session.sid)).toMatchObject({ gameId: "6", proof: "session" });
  await expectOffered("100024", null);
  const other = await enter("100024");
  expectPage(await useKnown(other, "6"), 400, "Something is missing");
});

test("an account that was unlinked there before the confirmation is not linked", async () => {
  await linkBySignIn("100025", "6", elsewhere);
  const flow = await enter("100025");
  const whole = await flow.browser.get(locationOf(await useKnown(flow, "6")));
  await send("DELETE /v2/game", { key: elsewhere, body: { chatId: "100025" } });
  const title = "Your link has changed in the meantime";
  expectPage(await flow.browser.post("/verify/confirm", formOf(whole)), 409, title);
  expect(await server.gameOf(flow.key, "100025")).toBe(null);
});

test("a list with a link by hand is not offered on /me to a user who never confirmed a link there", async () => {
  await send("DELETE /v2/game", { key: ofStranger, body: { chatId: "100027" } });
  const { pid } = await setup({}, ofStranger);
  const offers = async (chatId: string) =>
    (await openMe(chatId)).page.text.includes(`name="in" value="${pid}"`);
  expect([await offers("100026"), await offers("100027")]).toEqual([false, true]);
});

test("an account that was unlinked there since is not offered", async () => {
  await send("DELETE /v2/game", { key: elsewhere, body: { chatId: "100015" } });
  await expectOffered("100015", null);
});

test("a key, or its session, that names the account again changes neither how nor when it was proven", async () => {
  for (const chatId of ["100009", "100010"]) {
    await send("PATCH /v2/game", { key: elsewhere, body: { chatId, gameId: "6" } });
  }
  await expectOffered("100009", null);
  await linkBySession("100010");
  await expectOffered("100010", "6");
});

test("a community that asks for its own proof, or does not admit the account, offers none", async () => {
  const { owner: dashboard, pid } = await enterDashboard(server, owner);
  expect((await scopesOf(dashboard))[0]?.settings).toMatchObject({ freshProof: false });
  const set = (settings: object) => dashboard.send(`PATCH /dashboard/api/scopes/${pid}`, { body: settings });
  expect((await set({ freshProof: "yes" })).body.error).toMatchObject({ code: "INVALID_PARAMETER" });
  expect((await set({ freshProof: true })).body.data).toMatchObject({
    scope: { settings: { freshProof: true } },
  });
  await expectOffered("100016", null);
  await set({ freshProof: false });
  const begun = await enter("100016", ofGuild);
  const whole = await begun.browser.get(locationOf(await useKnown(begun, "8")));
  await set({ freshProof: true });
  const title = "Your link has changed in the meantime";
  expectPage(await begun.browser.post("/verify/confirm", formOf(whole)), 409, title);
  await set({ freshProof: false, minGameAgeDays: 3_650 });
  await expectOffered("100016", null);
  await set({ minGameAgeDays: null });
  await expectOffered("100016", "8");
  await dashboard.send("PUT /dashboard/api/blocks", { body: { pid, gameId: "8", reason: null } });
  // The channel still shows the answer that offered it to the other member.
  await expectOffered("100017", null);
});

test("on /me, one press leads to the confirmation, and other accounts and users are refused", async () => {
  const { browser, page } = await openMe("100006");
  const [pid] = /(?<=name="in" value=")[^"]+/.exec(page.text) ?? [];
  const form = { csrf: formOf(page)["csrf"] ?? "", in: textOf(pid), guildId: guild, gameId: "6" };
  expectPage(await browser.post("/me/link", { ...form, gameId: "7" }), 400, "Something is missing");
  expectPage(
    await browser.post("/me/link", { ...form, in: "pid_unknown" }),
    404,
    "This address does not work",
  );
  expect((await browser.post("/me/link", { ...form, csrf: "" })).status).toBe(403);
  const whole = await browser.get(locationOf(await browser.post("/me/link", form)));
  expectPage(whole, 200, "Is this right?");
  expect((await browser.post("/verify/confirm", formOf(whole))).status).toBe(200);
  const lookup = await send(`GET /v2/chat?chatId=100006&guildId=${guild}`, { key: ofGuild });
  expect(lookup.body.data).toMatchObject({ gameId: "6" });
  expect(known(await browser.get("/me"), "/me/link")).toEqual([]);
  const unasked = await server.signIn("100010", newBrowser(), "me");
  expect((await unasked.get("/me")).text).toContain('href="/me/sign-in?communities=1"');
});

test.each([
  ["with a session", "100031", "6"],
  ["without one, as from the panel", "100032", "7"],
])("who proves a link that somebody made by hand gets the roles for it, %s", async (way, chatId, gameId) => {
  const session = (
    await send("POST /v2/sessions", {
      key: ofGuild,
      body: { clientId: "c", guildId: guild },
    })
  ).body.data;
  const entry =
    way === "with a session"
      ? `?sid=${textOf(session?.sid)}`
      : `?pid=${textOf(session?.pid)}&guildId=${guild}`;
  const browser = server.newBrowser();
  await browser.prove("chat", chatId, entry);
  const page = await browser.get(locationOf(await browser.prove("game", gameId)));
  expect(page.status).toBe(200);
  expect(await channel(chatId)).toContain('<span id="roles">Member</span>');
  expect((await browser.post("/verify/confirm", formOf(page))).status).toBe(200);
  await expect.poll(() => channel(chatId), { timeout: 5_000 }).toMatch(/<span id="roles">[^<]*Proven/);
});

test("an account about which the game platform does not answer is not offered, and a choice of it is no refusal", async () => {
  await platform.fail({ mode: "down", platform: "game", under: "/game/api" });
  const [flow, me] = [await enter("100028"), await openMe("100028")];
  expect(known(flow.page)).toEqual([]);
  const form = { csrf: formOf(me.page)["csrf"] ?? "", in: flow.pid, gameId: "9" };
  for (const answer of [await useKnown(flow, "9"), await me.browser.post("/me/link", form)])
    expectPage(answer, 503, "No answer from the game platform");
});
