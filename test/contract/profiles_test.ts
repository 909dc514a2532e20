/** Profiles in answers: with `resolved=true` in v2, and for Premium keys in v1. */

import { expect, test } from "vitest";
import { chatUsers, gameUsers, nobody, stranger } from "../support/fixtures.ts";
import { expectData, useContractServer } from "./contract_server.ts";

const { fixtures, send, platform } = useContractServer();
const crowd = Object.fromEntries(chatUsers.slice(0, 30).map(({ id }) => [id, "2"]));
const links = { ...crowd, 100001: "1", 100031: nobody, [stranger]: "3", 100098: "4", 100035: "5" };
const premium = fixtures.key({ tier: "premium", links });
const free = fixtures.key({ links });
const chatProfile = (chatId: string) => chatUsers.find(({ id }) => id === chatId);

test("a lookup by chat user contains both profiles", async () => {
  expectData(await send("GET /v2/chat?chatId=100001&resolved=true", { key: premium }), {
    chatId: "100001",
    gameId: "1",
    resolved: { game: gameUsers[0], chat: { ...chatProfile("100001"), guild: null } },
  });
});

test("the verification status contains both profiles, and null profiles without a link", async () => {
  const linked = await send("GET /v2/verifications/chat?chatId=100001&resolved=true", { key: premium });
  expect(linked.body.data?.resolved).toEqual({
    game: gameUsers[0],
    chat: { ...chatProfile("100001"), guild: null },
  });
  const answer = await send("GET /v2/verifications/chat?chatId=100040&resolved=true", { key: premium });
  expect(answer.body.data).toMatchObject({ linked: false, resolved: { game: null, chat: null } });
});

test("a lookup by game user contains the profiles of its first 25 chat users, in order", async () => {
  const { body } = await send("GET /v2/game?gameId=2&resolved=true", { key: premium });
  const chatIds = chatUsers.slice(1, 30).map(({ id }) => id);
  expect(body.data).toEqual({
    gameId: "2",
    chatIds,
    count: 29,
    resolved: {
      game: gameUsers[1],
      chat: chatIds.slice(0, 25).map((chatId) => ({ ...chatProfile(chatId), guild: null })),
    },
  });
});

test("profiles and fields that the platforms do not have are null", async () => {
  const { body } = await send("GET /v2/chat?chatId=100031&resolved=true", { key: premium });
  expect(body.data?.resolved?.game).toBeNull();
  const gone = await send("GET /v2/game?gameId=4&resolved=true", { key: premium });
  expect(gone.body.data?.resolved?.chat).toEqual([null]);
  const bare = await send(`GET /v2/chat?chatId=${stranger}&resolved=true`, { key: premium });
  expect(bare.body.data?.resolved?.chat).toEqual({
    id: stranger,
    username: "stranger",
    displayName: null,
    avatar: null,
    banner: null,
    created: null,
    guild: null,
  });
});

const chatToGame = "GET /api/v1/public/chat-to-game?chatId=100001";
const gameToChat = (gameId: string) => `GET /api/v1/public/game-to-chat?gameId=${gameId}` as const;

test.each([chatToGame, gameToChat("1")] as const)(
  "%s has the game profile for a Premium key",
  async (line) => {
    const { body } = await send(line, { key: premium });
    expect(body).toMatchObject({ version: "1.1.0", resolved: gameUsers[0] });
    const plain = await send(line, { key: free });
    expect(plain.body).toMatchObject({ version: "1.0.0" });
    expect(plain.body).not.toHaveProperty("resolved");
  },
);

test("v1 returns the profile of a game user without links, and null for an unknown one", async () => {
  const { body } = await send(gameToChat("9"), { key: premium });
  expect(body).toMatchObject({
    version: "1.1.0",
    data: { gameId: "9", chatIds: [] },
    resolved: gameUsers[8],
  });
  expect((await send(gameToChat(nobody), { key: premium })).body.resolved).toBeNull();
});

test("lookups succeed with null profiles during a platform outage", async () => {
  await platform.fail({ mode: "down", platform: "both", status: 500 });
  const unresolved = { game: null, chat: null };
  const chat = await send("GET /v2/chat?chatId=100035&resolved=true", { key: premium });
  expectData(chat, { chatId: "100035", gameId: "5", resolved: unresolved });
  const game = await send("GET /v2/game?gameId=5&resolved=true", { key: premium });
  expectData(game, { gameId: "5", chatIds: ["100035"], count: 1, resolved: { game: null, chat: [null] } });
  const v1 = await send("GET /api/v1/public/chat-to-game?chatId=100035", { key: premium });
  expect(v1.body).toMatchObject({ status: 200, version: "1.1.0", resolved: null });
});
