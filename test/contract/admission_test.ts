/** Who may link in a community: ages of accounts and blocks, in the flow, in chat and for every write. */
import { afterEach, expect, test } from "vitest";
import { chatKey, command, type Sender } from "../support/chat.ts";
import { guild, stranger } from "../support/fixtures.ts";
import { formOf } from "../support/flow_browser.ts";
import { textOf } from "../support/http.ts";
import { expectInvalid } from "./contract_server.ts";
import { scopesOf, signInOwner } from "./dashboard.ts";
import { expectPage } from "./flow_server.ts";
import { clubOf, useSiteServer, verified } from "./site_server.ts";

const day = 86_400_000;
const born = (daysAgo: number) => new Date(Date.now() - daysAgo * day).toISOString();
const [ada, youngChat, oldChat] = ["100001", "100011", "100012"];
const [youngGame, oldGame] = ["5", "6"];

const club = clubOf(ada);
const server = useSiteServer({ ACCOUNTLINK_CHAT_PUBLIC_KEY: chatKey }, (fixture) => {
  const { platform, ...rest } = club(fixture);
  const withAge = <User extends { id: string }>(users: ReadonlyArray<User>, id: string, created: string) =>
    users.map((user) => (user.id === id ? { ...user, created } : user));
  return {
    ...rest,
    platform: {
      ...platform,
      chatUsers: withAge(fixture.platform?.chatUsers ?? [], youngChat, born(3)),
      gameUsers: withAge(fixture.platform?.gameUsers ?? [], youngGame, born(3)),
    },
  };
});
const { fixtures, send, platform, newBrowser } = server;
const key = fixtures.key({ account: "club", guildId: guild });
fixtures.key({ account: "club" });
fixtures.plan({
  account: "club",
  guildId: guild,
  rules: [{ roleId: verified.id, when: { is: "linked" } }],
  state: "on",
});

afterEach(() => platform.recover());

const signIn = async () => {
  const owner = await signInOwner(server, ada);
  const [global, ofGuild] = (await scopesOf(owner)).map(({ pid }) => textOf(pid));
  const set = async (settings: object) =>
    owner.send(`PATCH /dashboard/api/scopes/${ofGuild ?? ""}`, { body: settings });
  return { owner, global: global ?? "", pid: ofGuild ?? "", set };
};

const told = async (chatId: string, name: string, options?: Parameters<typeof command>[3]) => {
  const { body } = await command(send, { chatId } satisfies Sender, name, options);
  return (body.data as unknown as { content: string; components: ReadonlyArray<object> }) ?? {};
};

const gameOf = async (chatId: string): Promise<unknown> =>
  (await send(`GET /v2/chat?chatId=${chatId}&guildId=${guild}`, { key })).body.data?.gameId;

test("the least ages are settings of a scope, from 0 to 3650 days, and null removes them", async () => {
  const { owner, pid, set } = await signIn();
  const settingsOf = async () => (await scopesOf(owner)).find((scope) => textOf(scope.pid) === pid)?.settings;
  expect(await settingsOf()).toMatchObject({ minGameAgeDays: null, minChatAgeDays: null });
  const { status, body } = await set({ minGameAgeDays: 3_650, minChatAgeDays: 0 });
  expect([status, body.data]).toMatchObject([
    200,
    { scope: { pid, settings: { minGameAgeDays: 3_650, minChatAgeDays: 0 } } },
  ]);
  await set({ doneText: "Welcome" });
  expect(await settingsOf()).toMatchObject({ doneText: "Welcome", minGameAgeDays: 3_650 });
  for (const name of ["minGameAgeDays", "minChatAgeDays"]) {
    for (const value of [-1, 3_651, 1.5, "7", true]) expectInvalid(await set({ [name]: value }), name);
  }
  await set({ minGameAgeDays: null, minChatAgeDays: null, doneText: null });
  expect(await settingsOf()).toMatchObject({ minGameAgeDays: null, minChatAgeDays: null });
});

test("a chat account that is too young is told from when on it may link, in the flow and in chat", async () => {
  const { pid, set } = await signIn();
  await set({ minChatAgeDays: 10 });
  const refused = await newBrowser().prove("chat", youngChat, `?pid=${pid}`);
  expectPage(refused, 403, "This account is too new");
  const from = new Date(Date.now() + 7 * day).toISOString().slice(0, 10);
  expect(refused.text).toContain(`datetime="${from}"`);
  const message = await told(youngChat, "verify");
  expect(message.content).toMatch(/You can verify from <t:\d+:f> on/);
  expect(message.components).toEqual([]);
  expectPage(await newBrowser().walk(`?pid=${pid}`, oldChat, oldGame), 200, "Is this right?");
  await set({ minChatAgeDays: 2 });
  expectPage(await newBrowser().walk(`?pid=${pid}`, youngChat, oldGame), 200, "Is this right?");
  await set({ minChatAgeDays: null });
});

test("a game account that is too young is refused, also when the rule came after the proof", async () => {
  const { pid, set } = await signIn();
  await set({ minGameAgeDays: 10 });
  const browser = newBrowser();
  await browser.prove("chat", oldChat, `?pid=${pid}`);
  expectPage(await browser.prove("game", youngGame), 403, "This account is too new");
  await set({ minGameAgeDays: null });
  const page = await browser.walk(`?pid=${pid}`, oldChat, youngGame);
  await set({ minGameAgeDays: 10 });
  expectPage(await browser.post("/verify/confirm", formOf(page)), 403, "This account is too new");
  const body = { chatId: oldChat, gameId: youngGame, guildId: guild };
  expect((await send("PATCH /v2/game", { key, body })).status).toBe(200);
  expect(await gameOf(oldChat)).toBe(youngGame);
  await send("DELETE /v2/game", { key, body });
  await set({ minGameAgeDays: null });
});

test("an account whose age nobody knows is refused, and a platform that is down is no answer", async () => {
  const { owner, global, pid, set } = await signIn();
  const path = `PATCH /dashboard/api/scopes/${global}` as const;
  await owner.send(path, { body: { minChatAgeDays: 1 } });
  const unknown = await newBrowser().prove("chat", stranger, `?pid=${global}`);
  expectPage(unknown, 403, "Nobody knows how old this account is");
  const held = newBrowser();
  await held.prove("chat", oldChat, `?pid=${pid}`);
  await set({ minGameAgeDays: 1 });
  const back = await held.signIn(await held.leave("game"), oldGame);
  await platform.fail({ mode: "down", platform: "game", under: "/game/api" });
  expectPage(await held.get(back), 503, "The platform does not answer");
  await set({ minGameAgeDays: null });
  await owner.send(path, { body: { minChatAgeDays: null } });
});
