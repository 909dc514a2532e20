/** Who may link in a community: ages of accounts and blocks, in the flow, in chat and for every write. */
import { afterEach, expect, test } from "vitest";
import { chatKey, command, type Sender } from "../support/chat.ts";
import { daysAgo, guild, stranger } from "../support/fixtures.ts";
import { formOf, locationOf, wordsOf } from "../support/flow_browser.ts";
import { listOf, textOf } from "../support/http.ts";
import { dataOf, expectConflict, expectInvalid, expectMissing, expectV1Refusal } from "./contract_server.ts";
import { enterDashboard, type Owner, scopesOf } from "./dashboard.ts";
import { expectPage } from "./flow_server.ts";
import { clubOf, exportOf, useSiteServer, verified } from "./site_server.ts";

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
      chatUsers: withAge(fixture.platform?.chatUsers ?? [], youngChat, daysAgo(3)),
      gameUsers: withAge(fixture.platform?.gameUsers ?? [], youngGame, daysAgo(3)),
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
  const entered = await enterDashboard(server, ada, guild);
  const set = async (settings: object) =>
    entered.owner.send(`PATCH /dashboard/api/scopes/${entered.pid}`, { body: settings });
  return { ...entered, set };
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
  const [, from = ""] = /datetime="(.+?)"/.exec(refused.text) ?? [];
  expect(wordsOf(refused)).toMatch(/signed in as:.* User 11 /);
  const message = await told(youngChat, "verify");
  expect(message.content).toContain(`You can verify from <t:${Date.parse(from) / 1_000}:f> on`);
  expect(message.components).toEqual([]);
  for (const [supportUrl, buttons] of [
    ["https://club.example/help", [{ label: "Get help", url: "https://club.example/help" }]],
    [`https://club.example/${"x".repeat(500)}`, []],
  ] as const) {
    await set({ supportUrl });
    const { components } = await told(youngChat, "verify");
    expect(components).toMatchObject(buttons.length === 0 ? [] : [{ components: buttons }]);
  }
  await set({ supportUrl: null });
  expectPage(await newBrowser().walk(`?pid=${pid}`, oldChat, oldGame), 200, "Is this right?");
  await set({ minChatAgeDays: 2 });
  expectPage(await newBrowser().walk(`?pid=${pid}`, youngChat, oldGame), 200, "Is this right?");
  await set({ minChatAgeDays: null });
});

test("a game account that is too young is refused, also when the rule came after the proof", async () => {
  const { pid, set } = await signIn();
  const supportUrl = "https://club.example/help";
  await set({ minGameAgeDays: 10, supportUrl });
  const browser = newBrowser();
  await browser.prove("chat", oldChat, `?pid=${pid}`);
  const callback = await browser.signIn(await browser.leave("game"), youngGame);
  // The first answer, the reload, and the page as the browser kept it.
  for (const address of [callback, callback, "/verify/confirm"]) {
    expectPage(await browser.get(address), 403, "This account is too new", `href="${supportUrl}"`);
  }
  await set({ minGameAgeDays: null });
  const page = await browser.walk(`?pid=${pid}`, oldChat, youngGame);
  await set({ minGameAgeDays: 10 });
  expectPage(await browser.post("/verify/confirm", formOf(page)), 403, "This account is too new");
  const body = { chatId: oldChat, gameId: youngGame, guildId: guild };
  expect((await send("PATCH /v2/game", { key, body })).status).toBe(200);
  expect(await gameOf(oldChat)).toBe(youngGame);
  await send("DELETE /v2/game", { key, body });
  await set({ minGameAgeDays: null, supportUrl: null });
});

test("a community may allow one chat user for each game account, whom its owner moves in the flow", async () => {
  const { owner, pid, set } = await signIn();
  const [holder, other, gameId] = ["100007", "100008", "8"];
  const patch = (chatId: string) => send("PATCH /v2/game", { key, body: { chatId, gameId, guildId: guild } });
  const address = `/dashboard/communities/${pid}`;
  const form = await owner.browser.get(address);
  expect(wordsOf(form)).toContain("can move the link there; links that are there stay.");
  const ticked = { ...formOf(form), act: "ages", oneChatUser: "true" };
  const refused = await owner.browser.post(address, { ...ticked, minGameAgeDays: "4000" });
  expect(refused.status).toBe(400);
  expect(refused.text).toMatch(/name="oneChatUser"[^>]* checked/);
  expect((await owner.browser.post(address, ticked)).headers.location).toContain("done=ages");
  expect((await owner.browser.get(address)).text).toMatch(/name="oneChatUser"[^>]* checked/);
  expect((await patch(holder)).status).toBe(200);
  expect((await patch(holder)).status).toBe(200);
  const link = { pid, chatId: other, gameId, reason: "By hand" };
  for (const taken of [await patch(other), await owner.send("PUT /dashboard/api/links", { body: link })])
    expectConflict(taken, "game_taken");
  const v1 = await send(`PUT /api/v1/link/update-game?guildId=${guild}&chatId=${other}&newGameId=${gameId}`, {
    key,
  });
  expectV1Refusal(v1, 400, "Another user has this game account");
  dataOf(await owner.send("DELETE /dashboard/api/links", { body: { pid, chatId: holder } }));
  expect((await patch(other)).status).toBe(200);
  const restored = await owner.send("POST /dashboard/api/links/restore", { body: { pid, chatId: holder } });
  expectConflict(restored, "game_taken");
  const browser = newBrowser();
  const page = await browser.walk(`?pid=${pid}`, holder, gameId);
  expectPage(page, 200, "Is this right?", "Move the link here");
  const { move: _, holder: shown, ...asked } = formOf(page);
  expect(shown).toBe(other);
  for (const wrong of [asked, { ...asked, move: "1", holder: "100009" }])
    expectPage(await browser.post("/verify/confirm", wrong), 409, "Another member has this account");
  expect([await gameOf(holder), await gameOf(other)]).toEqual([undefined, gameId]);
  expectPage(await browser.post("/verify/confirm", { ...asked, move: "1" }), 200, "Your accounts are linked");
  expect([await gameOf(holder), await gameOf(other)]).toEqual([gameId, undefined]);
  const { body: feed } = await send("GET /v2/events?from=oldest&types=link.removed", { key });
  expect(listOf(feed.data?.["events"]).at(-1)).toMatchObject({ data: { chatId: other, source: "flow" } });
  await set({ oneChatUser: false });
  expect((await patch(other)).status).toBe(200);
  await set({ oneChatUser: true });
  expect(dataOf(await patch(other))).toMatchObject({ previousGameId: gameId, updated: false });
  const confirmed = await newBrowser().walk(`?pid=${pid}`, other, gameId);
  expect(confirmed.text).not.toContain("Move the link here");
  for (const chatId of [holder, other])
    await send("DELETE /v2/game", { key, body: { chatId, guildId: guild } });
});

test("a game account that was only named is answered alike, whether the community admits it or not", async () => {
  const { owner, pid, set } = await signIn();
  await set({ minGameAgeDays: 10 });
  const block = { pid, gameId: "7" };
  await owner.send("PUT /dashboard/api/blocks", { body: block });
  const browser = newBrowser();
  const query = `?pid=${pid}`;
  const authorizeUrl = await browser.leave("chat", query);
  await browser.get(await browser.signIn(authorizeUrl, oldChat));
  const form = formOf(await browser.get(`/verify/game/words${query}`));
  const named = async (id: string) => {
    const page = await browser.post("/verify/game/words", { ...form, username: `player_${id}` });
    const words = /id="words"[^>]*>([^<]*)</.exec(page.text)?.[1] ?? "";
    return {
      status: page.status,
      words,
      text: page.text.replaceAll(words, "").replaceAll(/req_\w+|\d/g, ""),
    };
  };
  const [young, blocked, admitted] = [await named(youngGame), await named("7"), await named(oldGame)];
  expect([young.status, young.text, blocked.text]).toEqual([200, admitted.text, admitted.text]);
  const { words } = await named("7");
  await browser.post(`${new URL(authorizeUrl).origin}/game/users/7`, { description: words });
  expectPage(await browser.post("/verify/game/words/check", form), 403, "You cannot link this account here");
  await owner.send("DELETE /dashboard/api/blocks", { body: block });
  await set({ minGameAgeDays: null });
});

test("an account whose age nobody knows is refused, and a platform that is down is no answer", async () => {
  const { owner, global, pid, set } = await signIn();
  const path = `PATCH /dashboard/api/scopes/${global}` as const;
  await owner.send(path, { body: { minChatAgeDays: 1 } });
  const unknown = await newBrowser().prove("chat", stranger, `?pid=${global}`);
  expectPage(unknown, 403, "We cannot tell how old this account is");
  const held = newBrowser();
  await held.prove("chat", oldChat, `?pid=${pid}`);
  await set({ minGameAgeDays: 1 });
  const back = await held.signIn(await held.leave("game"), oldGame);
  await platform.fail({ mode: "down", platform: "game", under: "/game/api" });
  expectPage(await held.get(back), 503, "No answer from the game platform");
  await set({ minGameAgeDays: null });
  await owner.send(path, { body: { minChatAgeDays: null } });
});

const blocked = { chatId: "100021", gameId: "8" };
const bystander = "100022";
const list = async (owner: Owner, pid: string, query = "") =>
  dataOf(await owner.send(`GET /dashboard/api/blocks?pid=${pid}${query}`));
const patch = (chatId: string, gameId: string) =>
  send("PATCH /v2/game", { key, body: { chatId, gameId, guildId: guild } });

test("a block removes the link, refuses every write, and is listed with its reason until it is removed", async () => {
  const { owner, pid } = await signIn();
  const { chatId, gameId } = blocked;
  expect((await patch(chatId, gameId)).status).toBe(200);
  const body = { pid, chatId, reason: "Raids" };
  const set = dataOf(await owner.send("PUT /dashboard/api/blocks", { body }));
  const block = { chatId, gameId: null, reason: "Raids", at: expect.any(String), member: ada };
  expect(set).toEqual({ block, removedLinks: 1 });
  expect(await list(owner, pid)).toEqual({ blocks: [block], next: null });
  expect(await gameOf(chatId)).toBeUndefined();
  const { body: feed } = await send("GET /v2/events?from=oldest&types=link.removed", { key });
  expect(feed.data?.events).toContainEqual(
    expect.objectContaining({ data: expect.objectContaining({ chatId, source: "dashboard" }) }),
  );
  for (const refused of [
    await patch(chatId, "9"),

    await owner.send("PUT /dashboard/api/links", { body: { pid, chatId, gameId: "9" } }),
  ]) {
    expectConflict(refused, "blocked");
  }
  expect((await patch(bystander, gameId)).status).toBe(200);
  const move = { oldChatId: bystander, newChatId: chatId, guildId: guild };
  expectConflict(await send("PATCH /v2/chat", { key, body: move }), "blocked");
  for (const query of [
    `update-game?guildId=${guild}&chatId=${chatId}&newGameId=9`,
    `update-chat?guildId=${guild}&oldChatId=${bystander}&newChatId=${chatId}`,
  ] as const) {
    const refused = await send(`PUT /api/v1/link/${query}`, { key });
    expectV1Refusal(refused, 400, "This user is blocked in this community");
  }
  expect(await gameOf(bystander)).toBe(gameId);
  const again = await owner.send("PUT /dashboard/api/blocks", { body: { pid, chatId } });
  expect(dataOf(again)).toMatchObject({ block: { reason: null }, removedLinks: 0 });
  const deletion = async () => wordsOf(await owner.browser.get("/dashboard/account/delete"));
  expect(await deletion()).toContain(" 1 block: whom you blocked may verify again");
  const end = { body: { pid, chatId } };
  expect(dataOf(await owner.send("DELETE /dashboard/api/blocks", end))).toEqual({ deleted: true });
  expect(dataOf(await owner.send("DELETE /dashboard/api/blocks", end))).toEqual({ deleted: false });
  expect(await deletion()).not.toContain("may verify again");
  expect((await patch(chatId, "9")).status).toBe(200);
  const audit = dataOf(await owner.send(`GET /dashboard/api/audit?chatId=${chatId}`));
  expect(listOf(audit.entries).map(({ action }) => action)).toEqual(
    expect.arrayContaining(["block.set", "block.removed", "link.removed"]),
  );
});

test("blocks stay when the data of a list is deleted, and a file of them is imported elsewhere", async () => {
  const { owner, pid, global } = await signIn();
  const confirm = "Rook & Bishop";
  const reason = '=1+1, "quoted"\nand more';
  await owner.send("PUT /dashboard/api/blocks", { body: { pid, chatId: "100025", reason } });
  await owner.send("PUT /dashboard/api/blocks", { body: { pid, gameId: "41" } });
  const page = await owner.browser.get(`/dashboard/communities/${pid}/delete`);
  expect(page.text).toMatch(/name="keepBlocks" value="true" checked[^]*Keep the 2 blocks/);
  const remove = (body: object) =>
    owner.send(`DELETE /dashboard/api/scopes/${pid}`, { body: { confirm, ...body } });
  expectInvalid(await remove({ keepBlocks: "no" }), "keepBlocks");
  expect((await remove({})).status).toBe(200);
  expect(listOf((await list(owner, pid)).blocks)).toHaveLength(2);
  expectConflict(await patch("100025", "9"), "blocked");
  const { status, headers, text } = await owner.send(`GET /dashboard/api/blocks/export?pid=${pid}`);
  expect([status, headers["content-type"]]).toEqual([200, "text/csv; charset=utf-8"]);
  expect(text).toMatch(/^chatId,gameId,reason,at,member\r\n,41,,/);
  const send_ = (csv: string) =>
    owner.send("POST /dashboard/api/blocks/import", { body: { pid: global, csv } });
  expectInvalid(await send_("name\r\nAda"), "csv");
  expect((await owner.browser.get(`/dashboard/links/blocks.csv?pid=${pid}`)).text).toBe(text);
  const upload = (csv: string, of = global) => {
    const fields = new FormData();
    for (const field of Object.entries({ csrf: owner.csrfToken, pid: of })) fields.append(...field);
    fields.append("csv", new File([csv], "blocks.csv", { type: "text/csv" }));
    return owner.browser.post("/dashboard/links/blocks/import", fields);
  };
  for (const wrong of ["name\r\nAda", "x".repeat(2_100_000)]) {
    const refused = await upload(wrong, pid);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain(`value="${pid}" selected`);
  }
  const bySpreadsheet = "chatId,gameId\r\n803415000000000000,\r\n803416000000000000,\r\n";
  expectInvalid(await send_(bySpreadsheet), "csv: expected chat IDs as text, found 2 rounded");
  expect(wordsOf(await upload(bySpreadsheet))).toContain("has rounded 2 IDs");
  dataOf(
    await owner.send("PUT /dashboard/api/links", { body: { pid: global, chatId: "100025", gameId: "8" } }),
  );
  const asked = await upload(`${text}x,,,,\r\n`);
  expect(wordsOf(asked)).toMatch(/Block 2 users\?.* This removes 1 link, /);
  expect(await list(owner, global)).toEqual({ blocks: [], next: null });
  const block = { ...formOf(asked), act: "file" };
  const imported = await owner.browser.get(
    locationOf(await owner.browser.post("/dashboard/links/block-list", block)),
  );
  const counted = "2 users were blocked, 0 were blocked already, 1 row names no user.";
  expect(wordsOf(imported)).toContain(counted);
  expect(dataOf(await send_(text))).toEqual({ imported: 0, kept: 2, wrong: 0, left: 0 });
  const found = listOf((await list(owner, global)).blocks).map(({ chatId, gameId, reason: why }) => [
    chatId,
    gameId,
    why,
  ]);
  expect(found).toEqual(
    expect.arrayContaining([
      ["100025", null, reason],
      [null, "41", null],
    ]),
  );
  expect((await remove({ keepBlocks: false })).status).toBe(200);
  expect(await list(owner, pid)).toEqual({ blocks: [], next: null });
  await owner.send(`DELETE /dashboard/api/scopes/${global}`, {
    body: { confirm: "club", keepBlocks: false },
  });
});

test("a list of IDs and names is blocked at once, after the page said what happens, and let in again together", async () => {
  const { owner, pid } = await signIn();
  const csrf = owner.csrfToken;
  const [first, second, third] = ["100026", "100027", "100028"];
  dataOf(await owner.send("PUT /dashboard/api/links", { body: { pid, chatId: first, gameId: "9" } }));
  await owner.send("PUT /dashboard/api/blocks", { body: { pid, chatId: third } });
  const press = (fields: Readonly<Record<string, string>>) =>
    owner.browser.post("/dashboard/links/block-list", { csrf, pid, listKind: "chat", ...fields });
  const users = `${first}\n<@${second}>, user_28\n@user_27\nnobody_has_this`;
  const asked = await press({ users });
  expect(wordsOf(asked)).toMatch(
    /Block 2 users\?.* removes 1 link, .* 1 is blocked already\..* Nobody was found for: nobody_has_this\./,
  );
  expect(listOf((await list(owner, pid)).blocks)).toHaveLength(1);
  const block = () => press({ ...formOf(asked), act: "block", reason: "raid" });
  expect(wordsOf(await block())).toContain("2 users are blocked.");
  // A button that is pressed twice tells what the first press did, and leads back too.
  const done = await block();
  expect(wordsOf(done)).toContain("2 users are blocked.");
  const reasons = async () =>
    Object.fromEntries(listOf((await list(owner, pid)).blocks).map(({ chatId, reason }) => [chatId, reason]));
  expect(await reasons()).toEqual({ [first]: "raid", [second]: "raid", [third]: null });
  await expect.poll(async () => (await patch(first, "9")).body.error?.details).toEqual({ reason: "blocked" });
  // The way back is only for users that the list blocked.
  const again = await press({ ...formOf(done), act: "end" });
  expect(again.status).toBe(303);
  expect(await reasons()).toEqual({ [third]: null });

  for (const wrong of ["", " \n", Array.from({ length: 51 }, (_, i) => `n_${i}`).join("\n")]) {
    const refused = await press({ users: wrong });
    expect([refused.status, wordsOf(refused)]).toEqual([
      400,
      expect.stringContaining("xpected 1 to 500 users"),
    ]);
  }
  const long = Array.from({ length: 501 }, (_, i) => String(10_000_000 + i)).join("\n");
  expect((await press({ users: long })).status).toBe(400);
  await owner.send("DELETE /dashboard/api/blocks", { body: { pid, chatId: third } });
  const games = await press({ listKind: "game", users: "8\n9" });
  expect(wordsOf(games)).toContain("Block 2 users?");
});

test("a request for a block names one user, and its cursor leads through all blocks", async () => {
  const { owner, pid } = await signIn();
  const put = (body: object) => owner.send("PUT /dashboard/api/blocks", { body });
  expectMissing(await put({ pid }), "chatId", "gameId");
  expectInvalid(await put({ pid, chatId: "100026", gameId: "7" }), "gameId");
  expectInvalid(await put({ pid, chatId: "100026", reason: "x".repeat(501) }), "reason");
  expectInvalid(await owner.send(`GET /dashboard/api/blocks?pid=${pid}&cursor=1`), "cursor");
  expect((await owner.send("GET /dashboard/api/blocks?pid=pid_0000000000000000")).status).toBe(404);
  const ids = ["100031", "100032", "100033"];
  for (const chatId of ids) await put({ pid, chatId });
  const first = await list(owner, pid, "&limit=2");
  const second = await list(owner, pid, `&limit=2&cursor=${encodeURIComponent(textOf(first.next))}`);
  const seen = [...listOf(first.blocks), ...listOf(second.blocks)].map(({ chatId }) => chatId);
  expect([new Set(seen), second.next]).toEqual([new Set(ids), null]);
  for (const chatId of ids) await owner.send("DELETE /dashboard/api/blocks", { body: { pid, chatId } });
});

test("who is blocked reads that they cannot link here, in the flow and in chat, and never why", async () => {
  const { owner, pid } = await signIn();
  const { chatId, gameId } = blocked;
  const put = (body: object) => owner.send("PUT /dashboard/api/blocks", { body: { pid, ...body } });
  const confirming = newBrowser();
  const form = formOf(await confirming.walk(`?pid=${pid}`, "100027", gameId));
  await put({ chatId, reason: "Raids" });
  await put({ gameId, reason: "Raids" });
  const chat = await newBrowser().prove("chat", chatId, `?pid=${pid}`);
  const browser = newBrowser();
  await browser.prove("chat", "100028", `?pid=${pid}`);
  const game = await browser.prove("game", gameId);
  for (const refused of [chat, game, await confirming.post("/verify/confirm", form)]) {
    expectPage(refused, 403, "You cannot link this account here");
    expect(refused.text).not.toContain("Raids");
  }
  const me = await server.signIn(chatId, newBrowser(), "me");
  const exported = await exportOf(me);
  expect(exported.text).not.toContain("Raids");
  expect(exported.body).toMatchObject({
    blocks: [{ community: { pid }, at: expect.any(String) }],
    entries: expect.arrayContaining([expect.objectContaining({ action: "block.set", details: { chatId } })]),
  });
  const message = await told(chatId, "verify");
  expect([message.content, message.components]).toEqual([
    expect.stringContaining("You cannot verify in"),
    [],
  ]);
  await owner.send("DELETE /dashboard/api/blocks", { body: { pid, gameId } });
  await owner.send("DELETE /dashboard/api/blocks", { body: { pid, chatId } });
});

test("an erasure keeps a block as a hash, and says so before", async () => {
  const { owner, pid } = await signIn();
  const chatId = "100029";
  await owner.send("PUT /dashboard/api/blocks", { body: { pid, chatId, reason: "Raids" } });
  const me = await server.signIn(chatId, newBrowser(), "me");
  const asked = await me.get("/me/erase");
  expect(asked.text).toContain("A community does not accept you. That stays");
  await me.post("/me/erase", { ...formOf(asked), confirm: "erase" });
  expect(await list(owner, pid)).toMatchObject({ blocks: [{ chatId: null, gameId: null, reason: null }] });
  expectConflict(await patch(chatId, "9"), "blocked");
  expectPage(
    await newBrowser().prove("chat", chatId, `?pid=${pid}`),
    403,
    "You cannot link this account here",
  );
  const end = await owner.send("DELETE /dashboard/api/blocks", { body: { pid, chatId } });
  expect(dataOf(end)).toEqual({ deleted: true });
  expect(await list(owner, pid)).toEqual({ blocks: [], next: null });
});
