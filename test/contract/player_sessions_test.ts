/** Sessions that name their player, over HTTP: who may create them, what their flow asks for, and who can finish it. */
import { expect, test } from "vitest";
import { guild, nobody, stranger } from "../support/fixtures.ts";
import { formOf, locationOf, withoutIsolation } from "../support/flow_browser.ts";
import { textOf } from "../support/http.ts";
import { expectForbidden, expectInvalid } from "./contract_server.ts";
import { expectPage, useFlowServer } from "./flow_server.ts";

const { fixtures, send, setup, read, gameOf, newBrowser } = useFlowServer();

const full = fixtures.key();
const game = fixtures.key({ access: "game" });
const verify = fixtures.key({ access: "verify" });
const looking = fixtures.key({ access: "read" });
const keptLink = fixtures.key({ access: "full", links: { 100001: "2" } });
const ofGuild = fixtures.key({ access: "game", guildId: guild });

const create = (key: string, body: object, v1 = false) =>
  send(v1 ? "POST /api/v1/verify/session" : "POST /v2/sessions", {
    key,
    body: { clientId: "player", ...body },
  });

test("keys with access full or game create sessions that name a player, in v1 and v2", async () => {
  for (const key of [full, game, ofGuild]) {
    for (const v1 of [false, true]) {
      const answer = await create(key, { gameId: "3", ...(key === ofGuild && { guildId: guild }) }, v1);
      expect(answer.status).toBe(201);
      expect(answer.body.data).toMatchObject({ state: "pending", gameId: "3", chatId: null, proof: null });
    }
  }
  expectForbidden(await create(verify, { gameId: "3" }), "key_access");
  const refused = await create(verify, { gameId: "3" }, true);
  expect([refused.status, refused.body.error]).toEqual([403, "This API key may not do that"]);
  expect((await create(verify, {})).status).toBe(201);
  expect((await create(looking, { gameId: "3" })).status).toBe(403);
});

test("a key with access game may do what a key with access verify may, and nothing else", async () => {
  for (const line of ["GET /v2/chat?chatId=100001", "GET /v2/game?gameId=1"] as const) {
    expect((await send(line, { key: game })).status).toBe(404);
  }
  expect((await send("GET /v2/verifications/chat?chatId=100001", { key: game })).status).toBe(200);
  for (const line of ["GET /v2/events", "GET /v2/links", "POST /v2/chat/bulk"] as const) {
    const { status, body } = await send(line, {
      key: game,
      ...(line.startsWith("POST") && { body: {} }),
    });
    expect([line, status, body.error?.["details"]]).toEqual([line, 403, { reason: "key_access" }]);
  }
});

test("a session names only a game user who exists", async () => {
  for (const gameId of [nobody, "ada", 3]) expectInvalid(await create(full, { gameId }), "gameId");
  const v1 = await create(full, { gameId: nobody }, true);
  expect([v1.status, v1.body.error]).toEqual([400, "Invalid parameter: gameId"]);
  expect((await create(full, { gameId: null })).status).toBe(201);
});

test("the flow of a named player shows who plays, and asks for the chat proof alone", async () => {
  const { browser, key, sid, bySid } = await setup({ gameId: "3" });
  expect(await read(key, sid)).toMatchObject({ gameId: "3", proof: null });
  const first = await browser.get(`/verify${bySid}`);
  expectPage(first, 200, "Link your accounts");
  expect(withoutIsolation(first.text)).toContain("you are playing as Player 3");
  expect(first.text).toContain("Go on only if you started this in the game yourself");
  expect(first.text).toContain(`href="/verify/chat/start?`);
  expect(first.text).not.toContain("/verify/game/");

  const page = await browser.get(locationOf(await browser.prove("chat", "100001", bySid)));
  expectPage(page, 200, "Is this right?");
  for (const name of ["User 1", "Player 3", "Go on only if you started this"])
    expect(page.text).toContain(name);
  expect(page.text).not.toContain("/verify/game/");
  expectPage(await browser.post("/verify/confirm", formOf(page)), 200, "Your accounts are linked");
  expect(await gameOf(key)).toBe("3");
  const completed = {
    state: "completed",
    chatId: "100001",
    gameId: "3",
    linkChanged: true,
    proof: "session",
  };
  expect(await read(key, sid)).toMatchObject(completed);
  const { body } = await send("GET /v2/events?from=oldest&types=session.completed", { key });
  expect(body.data?.["events"]).toMatchObject([{ data: { gameId: "3", proof: "session", error: null } }]);
});

test("no other game account can finish a session that names its player", async () => {
  const { browser, key, sid, bySid } = await setup({ gameId: "3" });
  for (const query of [bySid, ""]) {
    expectPage(
      await browser.get(`/verify/game/start${query || bySid}`),
      403,
      "Use the account from the game",
    );
    await browser.prove("chat", "100001", bySid);
  }
  expectPage(await browser.get("/verify/game/start"), 403, "Use the account from the game");
  const words = await browser.get(`/verify/game/words${bySid}`);
  expectPage(words, 403, "Use the account from the game");
  const form = formOf(await browser.get(`/verify${bySid}`));
  for (const [path, field] of [
    ["/verify/game/words", { username: "player_1" }],
    ["/verify/game/words/check", {}],
    ["/verify/game/connection", { gameId: "1" }],
  ] as const) {
    expectPage(await browser.post(path, { ...form, ...field }), 403, "Use the account from the game");
  }
  const callback = await browser.get("/verify/game/callback?code=1&state=2");
  expect(callback.status).toBe(400);
  const page = await browser.get(`/verify${bySid}`);
  expect((await browser.post("/verify/confirm", { ...formOf(page), gameId: "1" })).status).toBe(200);
  expect([await gameOf(key), (await read(key, sid))["gameId"]]).toEqual(["3", "3"]);
});

test("a link that a named player replaces has the proof of the session", async () => {
  const { browser, sid, bySid } = await setup({ gameId: "3" }, keptLink);
  const page = await browser.get(locationOf(await browser.prove("chat", "100001", bySid)));
  expectPage(page, 200, "Which account is yours?");
  expect(page.text).not.toContain("/verify/game/");
  await browser.post("/verify/confirm", formOf(page));
  const replaced = { gameId: "3", linkChanged: true, previousGameId: "2", proof: "session" };
  expect(await read(keptLink, sid)).toMatchObject(replaced);
});

test("a session that names both users is finished by them alone, and can be cancelled", async () => {
  const { browser, key, sid, bySid } = await setup({ gameId: "3", chatId: "100002" });
  expectPage(await browser.prove("chat", "100001", bySid), 403, "This verification is for somebody else");
  const page = await browser.get(locationOf(await browser.prove("chat", "100002", bySid)));
  expectPage(await browser.post("/verify/cancel", formOf(page)), 200, "Nothing was linked");
  expect(await read(key, sid)).toMatchObject({ state: "cancelled", gameId: "3", proof: null });
  expect((await browser.post("/verify/confirm", formOf(page))).status).toBe(409);
  expect(await gameOf(key, "100002")).toBe(null);
});

test("of several browsers that confirm for one named player, one links", async () => {
  const { key, sid, bySid } = await setup({ gameId: "3" });
  const pages = await Promise.all(
    ["100001", "100002", "100003"].map(async (chatId) => {
      const browser = newBrowser();
      const page = await browser.get(locationOf(await browser.prove("chat", chatId, bySid)));
      return { browser, form: formOf(page) };
    }),
  );
  const answers = await Promise.all(pages.map(({ browser, form }) => browser.post("/verify/confirm", form)));
  expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(["200", "409", "409"]);
  const { chatId } = await read(key, sid);
  expect(await gameOf(key, textOf(chatId))).toBe("3");
});

test("a code leads to the player's session, and a stranger to the guild cannot finish it", async () => {
  const answer = await create(ofGuild, { gameId: "3", guildId: guild });
  const browser = newBrowser();
  const entered = await browser.post("/go", { code: textOf(answer.body.data?.["code"]) });
  expect(entered.status).toBe(303);
  expectPage(await browser.get(locationOf(entered)), 200, "Link your accounts");
  const sid = textOf(answer.body.data?.["sid"]);
  expect((await browser.prove("chat", stranger, `?sid=${sid}`)).status).toBe(403);
});
