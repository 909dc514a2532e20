/** Tests a service that has no platforms, because `ACCOUNTLINK_PLATFORM` is `none`. */
import { expect, test } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { useServer } from "../support/server.ts";
import { checked, expectData } from "./contract_server.ts";

const fixtures = makeFixtures();
const server = useServer(() => ({ fixture: fixtures.fixture, env: { ACCOUNTLINK_PLATFORM: "none" } }));
const send = checked(server.send);

/** A guild, a chat user and a game user that the fixture's platforms do not have. */
const guildId = "799999999999999999";
const chatId = "199999";
const gameId = "987654321";
const key = fixtures.key({ tier: "premium", guildId, limits: { perWindow: 0 } });

test("the server warns that it has no platforms, and ignores platform data in the fixture", () => {
  expect(server.output()).toContain("ACCOUNTLINK_PLATFORM is none, ");
  expect(server.output()).toContain('Ignored \\"platform\\" in ACCOUNTLINK_FIXTURE');
});

test("any game user can be linked to any chat user in any guild, and profiles are null", async () => {
  const body = { chatId, gameId, guildId };
  expectData(await send("PATCH /v2/game", { key, body }), {
    chatId,
    gameId,
    previousGameId: null,
    updated: true,
  });
  const resolved = { chat: null, game: null };
  const query = `guildId=${guildId}&resolved=true`;
  expectData(await send(`GET /v2/chat?chatId=${chatId}&${query}`, { key }), { chatId, gameId, resolved });
  const found = await send(`GET /v2/game?gameId=${gameId}&${query}`, { key });
  expect(found.body.data).toMatchObject({ chatIds: [chatId], count: 1 });
});

test.each([
  "GET /go",
  "GET /verify?sid=vs_1",
  "GET /verify/chat/start?sid=vs_1",
  "POST /verify/confirm",
  "GET /me",
  "GET /me/sign-in",
  "GET /dashboard",
  "GET /dashboard/sign-in",
] as const)("pages say that nobody can sign in: %s", async (line) => {
  const { status, headers, text } = await server.send(line);
  expect({ status, type: headers["content-type"] }).toEqual({
    status: 503,
    type: "text/html; charset=utf-8",
  });
  expect(text).toContain("Nobody can sign in here");
});

test("a page of the dashboard says in the reader's language that nobody can sign in", async () => {
  const { text } = await server.send("GET /dashboard", { headers: { "accept-language": "de" } });
  expect(text).toContain('<html lang="de"');
  expect(text).toContain("Hier kann sich niemand anmelden");
});
