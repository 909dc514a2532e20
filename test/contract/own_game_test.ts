/** The server with a game of one's own over HTTP in place of Roblox. */
import { gameToken, player, startGame } from "@accountlink/platforms/test_game";
import { Effect, Exit, Scope, Struct } from "effect";
import { afterAll, expect, test } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { ada, startLivePlatforms } from "../support/live_platforms.ts";
import { startServerHere } from "../support/server.ts";
import { expectInvalid } from "./contract_server.ts";

const fixtures = makeFixtures();
const key = fixtures.key({ tier: "premium", access: "full", links: { [ada.id]: player.id } });

const scope = Scope.makeUnsafe();
const platforms = await startLivePlatforms();
const game = await Effect.runPromise(Scope.provide(startGame(), scope));
/** The discovery of an issuer is tested beside the adapter. */
const env = Struct.omit(platforms.env, ["ACCOUNTLINK_GAME_CLIENT_ID", "ACCOUNTLINK_GAME_CLIENT_SECRET"]);
const server = await startServerHere({
  fixture: fixtures.fixture,
  env: {
    ...env,
    ACCOUNTLINK_PUBLIC_URL: "https://links.example",
    ACCOUNTLINK_GAME_URL: game.url,
    ACCOUNTLINK_GAME_TOKEN: gameToken,
    ACCOUNTLINK_GAME_NAME: "Voxel",
  },
});
afterAll(async () => {
  await server.stop();
  await platforms.stop();
  await Effect.runPromise(Scope.close(scope, Exit.void));
});
const { send } = server;
const textAt = async (path: string) => {
  const answer = await fetch(new URL(path, server.url));
  return { status: answer.status, text: await answer.text() };
};

test("a lookup has the profile that the game tells", async () => {
  const { body } = await send(`GET /v2/chat?chatId=${ada.id}&resolved=true`, { key });
  expect(body.data).toMatchObject({
    gameId: player.id,
    resolved: { game: { id: player.id, username: "Ada_G", created: "2012-03-19T05:54:55.000Z" } },
  });
});

test("only users that the game knows are linked and named in sessions", async () => {
  expectInvalid(await send("PATCH /v2/game", { key, body: { chatId: ada.id, gameId: "404" } }), "gameId");
  const session = (gameId: string) => send("POST /v2/sessions", { key, body: { clientId: "voxel", gameId } });
  expectInvalid(await session("404"), "gameId");
  expect((await session(player.id)).status).toBe(201);
});

test("pages name the game and the ways that it has", async () => {
  const { text } = await textAt("/");
  expect(text).toContain("Voxel");
  expect((await textAt("/verify/game/words")).status).not.toBe(404);
  expect((await textAt("/verify/game/start")).status).toBe(404);
  for (const path of ["/", "/docs", "/openapi.json"]) {
    const page = await textAt(path);
    expect([path, page.status]).toEqual([path, 200]);
    expect(page.text.match(/.{0,60}roblox.{0,60}/giu) ?? []).toEqual([]);
  }
});

test("the routes that are compatible with services for Roblox are none", async () => {
  const answer = await send("GET /compat/rover/api/guilds/1/discord-to-roblox/2", { key });
  expect(answer.status).toBe(404);
  expect(JSON.parse((await textAt("/openapi.json")).text).paths).not.toHaveProperty([
    "/compat/rover/api/guilds/{guildId}/discord-to-roblox/{discordId}",
  ]);
});
