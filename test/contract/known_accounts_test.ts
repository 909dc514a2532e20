/** Game accounts that users have proven to another community of the deployment. */
import { expect, test } from "vitest";
import { guild } from "../support/fixtures.ts";
import { formOf, locationOf } from "../support/flow_browser.ts";
import { type Answer, textOf } from "../support/http.ts";
import { scopesOf, signInOwner } from "./dashboard.ts";
import { expectPage, useFlowServer } from "./flow_server.ts";

const server = useFlowServer({}, ({ platform, ...fixture }) => ({
  ...fixture,
  platform: {
    ...platform,
    guilds: (platform?.guilds ?? []).map((each) => ({
      ...each,
      roles: [{ id: "5", name: "Proven", assignable: true }],
    })),
  },
}));
const { setup, read, fixtures, send, platform } = server;

/** A community of members who were linked by hand, whose rules give a role for a link that its owner has proven. */
const ofGuild = fixtures.key({ account: "club", guildId: guild, links: { "100031": "6", "100032": "7" } });
fixtures.plan({ account: "club", guildId: guild, rules: [{ roleId: "5", when: { is: "proven" } }] });

const channel = async (chatId: string) =>
  (await platform.send(`GET /chat/guilds/${guild}?as=${chatId}`)).text;

/** A community whose owner signs in to the dashboard. */
const owned = fixtures.key({ account: "careful", owner: "100005" });
const withLinks = fixtures.key({ links: { "100022": { gameId: "7", at: new Date().toISOString() } } });

const known = ({ text }: Answer) =>
  text.includes('action="/verify/game/known"')
    ? [...text.matchAll(/name="gameId" value="(\d+)"/g)].map(([, gameId]) => gameId)
    : [];

/** Signs in to the chat platform in the flow of a new session. */
const enter = async (chatId: string, key?: string) => {
  const flow = await setup({}, key);
  const page = await flow.browser.get(locationOf(await flow.browser.prove("chat", chatId, flow.bySid)));
  return { ...flow, page };
};

const linkBySignIn = async (chatId: string, gameId: string) => {
  const flow = await enter(chatId);
  const page = await flow.browser.get(locationOf(await flow.browser.prove("game", gameId)));
  expect((await flow.browser.post("/verify/confirm", formOf(page))).status).toBe(200);
  return flow;
};

const useKnown = async ({ browser, page }: Awaited<ReturnType<typeof enter>>, gameId: string) =>
  browser.post("/verify/game/known", { ...formOf(page), gameId });

test("an account that a user has proven to another community is linked with one press and the confirmation", async () => {
  const first = await linkBySignIn("100021", "6");
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

  // A link of the way `known` is no ground for another one.
  await send("DELETE /v2/game", { key: first.key, body: { chatId: "100021" } });
  expect(known((await enter("100021")).page)).toEqual([]);
});

test("links that nobody has proven are not offered", async () => {
  await send("PATCH /v2/game", { key: withLinks, body: { chatId: "100023", gameId: "7" } });
  for (const chatId of ["100022", "100023"]) expect(known((await enter(chatId)).page)).toEqual([]);
});

test("a community that asks for its own proof, or has blocked the account, offers none", async () => {
  await linkBySignIn("100024", "8");
  const owner = await signInOwner(server, "100005");
  const [scope] = await scopesOf(owner);
  expect(scope?.settings).toMatchObject({ freshProof: false });
  const pid = textOf(scope?.pid);
  const set = (freshProof: unknown) =>
    owner.send(`PATCH /dashboard/api/scopes/${pid}`, { body: { freshProof } });
  expect((await set("yes")).body.error).toMatchObject({ code: "INVALID_PARAMETER" });
  expect((await set(true)).body.data).toMatchObject({ scope: { settings: { freshProof: true } } });
  expect(known((await enter("100024", owned)).page)).toEqual([]);
  await set(false);
  expect(known((await enter("100024", owned)).page)).toEqual(["8"]);
  await owner.send("PUT /dashboard/api/blocks", { body: { pid, gameId: "8", reason: null } });
  expect(known((await enter("100024", owned)).page)).toEqual([]);
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

test("in chat, the button to verify names the account that is offered", async () => {
  const body = new URLSearchParams({ as: "100033", command: "/verify" }).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const ask = () => platform.send(`POST /chat/guilds/${guild}`, { body, headers });
  await ask();
  expect(await channel("100033")).not.toContain("Use Player 9");
  await linkBySignIn("100033", "9");
  await ask();
  expect(await channel("100033")).toContain("Use Player 9");
});
