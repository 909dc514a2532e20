/** Guild rules, for guild keys and for global keys that name a guild. */
import { expect, test } from "vitest";
import { guild, stranger } from "../support/fixtures.ts";
import { expectData, useContractServer } from "./contract_server.ts";

const { fixtures, send } = useContractServer();

/** Links of two guild members, and of two users who are in no guild: `stranger` and 100098. */
const links = { 100001: "1", [stranger]: "1", 100002: "3", 100098: "2" };
const ofGuild = () => fixtures.key({ guildId: guild, links });
const global = () => fixtures.key({ links });

test.each([
  ["a guild-scoped key", ofGuild()],
  ["a global key that names a guild", global()],
])("bulk lookups with %s apply the guild rules to each item", async (_title, key) => {
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

const [moving, movingV1, removing, unnamed] = [ofGuild(), ofGuild(), ofGuild(), global()];

test("a link can be moved from a chat user who is not a member of the guild", async () => {
  const body = { oldChatId: stranger, newChatId: "100003", guildId: guild };
  expectData(await send("PATCH /v2/chat", { key: moving, body }), {
    previousChatId: stranger,
    chatId: "100003",
    gameId: "1",
    updated: true,
  });
  const query = new URLSearchParams(body).toString();
  const v1 = await send(`PUT /api/v1/link/update-chat?${query}`, { key: movingV1 });
  expect(v1.body.data).toEqual({ chatId: "100003", gameId: "1" });
});

test("v1 can remove the link of a chat user who is not a member of the guild", async () => {
  const line = `DELETE /api/v1/link/delete-game?chatId=${stranger}&guildId=${guild}` as const;
  const v1 = await send(line, { key: removing });
  expect(v1.body).toMatchObject({
    message: "Game link removed",
    data: { chatId: stranger, removedGameId: "1" },
  });
});

test("guild rules do not apply to a global key that names no guild", async () => {
  const patched = await send("PATCH /v2/game", { key: unnamed, body: { chatId: stranger, gameId: "5" } });
  expect(patched.body.data).toMatchObject({ previousGameId: "1" });
  expect((await send(`GET /v2/chat?chatId=${stranger}`, { key: unnamed })).body.data).toMatchObject({
    gameId: "5",
  });
});
