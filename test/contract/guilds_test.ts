/** Guild rules, for guild keys and for global keys that name a guild. */
import { describe, expect, test } from "vitest";
import { guild, stranger } from "../support/fixtures.ts";
import { expectData, expectRefusal, useContractServer } from "./contract_server.ts";

const { fixtures, send } = useContractServer();
const unresolved = { game: null, chat: null };

/** Links of two guild members, and of two users who are in no guild: `stranger` and 100098. */
const links = {
  100001: "1",
  [stranger]: { gameId: "1", at: "2026-02-01T00:00:00.000Z" },
  100002: "3",
  100098: "2",
};

const kinds = [
  ["a guild-scoped key", guild],
  ["a global key that names a guild", undefined],
] as const;

describe.each(kinds)("with %s", (_title, guildId) => {
  const scoped = guildId === undefined ? {} : { guildId };
  const newKey = () => fixtures.key({ ...scoped, links });
  const key = newKey();
  const spare = Array.from({ length: 8 }, newKey);
  const freshKey = () => spare.pop() ?? "";
  const inGuild = `guildId=${guild}`;

  test("lookups by game user list only guild members", async () => {
    expectData(await send(`GET /v2/game?gameId=1&${inGuild}`, { key }), {
      gameId: "1",
      chatIds: ["100001"],
      count: 1,
      resolved: unresolved,
    });
    expectRefusal(await send(`GET /v2/game?gameId=2&${inGuild}`, { key }), 404, "LINK_NOT_FOUND", null);
    const v1 = (gameId: string) =>
      send(`GET /api/v1/public/game-to-chat?gameId=${gameId}&${inGuild}`, { key });
    expect((await v1("1")).body.data).toEqual({ gameId: "1", chatIds: ["100001"] });
    expect((await v1("2")).body.data).toEqual({ gameId: "2", chatIds: [] });
  });

  test("bulk lookups apply the guild rules to each item", async () => {
    const chats = await send("POST /v2/chat/bulk", {
      key,
      body: { chatIds: ["100001", stranger, "100005"], guildId: guild },
    });
    const forbidden = { code: "FORBIDDEN", status: 403, details: { reason: "user_not_in_guild" } };
    expect(chats.body.data).toMatchObject({
      results: [{ found: true }, { found: false, error: forbidden }, { error: { code: "LINK_NOT_FOUND" } }],
      foundCount: 1,
      notFoundCount: 1,
      errorCount: 1,
    });
    const games = await send("POST /v2/game/bulk", { key, body: { gameIds: ["1", "2"], guildId: guild } });
    expect(games.body.data).toMatchObject({
      results: [{ data: { chatIds: ["100001"], count: 1 } }, { error: { code: "LINK_NOT_FOUND" } }],
      notFoundCount: 1,
      errorCount: 0,
    });
  });

  test("a link can be moved from a chat user who is not a member of the guild", async () => {
    const body = { oldChatId: stranger, newChatId: "100003", guildId: guild };
    expectData(await send("PATCH /v2/chat", { key: freshKey(), body }), {
      previousChatId: stranger,
      chatId: "100003",
      gameId: "1",
      updated: true,
    });
    const query = `oldChatId=${stranger}&newChatId=100003&${inGuild}`;
    const v1 = await send(`PUT /api/v1/link/update-chat?${query}`, { key: freshKey() });
    expect(v1.body.data).toEqual({ chatId: "100003", gameId: "1" });
  });

  test("v1 can remove the link of a chat user who is not a member of the guild", async () => {
    const line = `DELETE /api/v1/link/delete-game?chatId=${stranger}&${inGuild}` as const;
    const v1 = await send(line, { key: freshKey() });
    expect(v1.body).toMatchObject({
      message: "Game link removed",
      data: { chatId: stranger, removedGameId: "1" },
    });
  });
});

const key = fixtures.key({ links });
const ofGuild = fixtures.key({ guildId: guild, links });

test("guild rules do not apply to a global key that names no guild", async () => {
  expect((await send(`GET /v2/chat?chatId=${stranger}`, { key })).body.data).toMatchObject({ gameId: "1" });
  expect((await send("GET /v2/game?gameId=1", { key })).body.data).toMatchObject({
    chatIds: [stranger, "100001"],
  });
  const patched = await send("PATCH /v2/game", { key, body: { chatId: stranger, gameId: "5" } });
  expect(patched.body.data).toMatchObject({ previousGameId: "1" });
  expect((await send("GET /api/v1/public/game-to-chat?gameId=5", { key })).body.data).toMatchObject({
    chatIds: [stranger],
  });
});

test("v1 deletes the links of the guild if a request with a guild key has no guildId parameter", async () => {
  const reset = await send("DELETE /api/v1/database/reset", { key: ofGuild });
  expect(reset.body).toMatchObject({ message: "Database reset", data: { deletedRecords: 4 } });
});
