/** Bulk lookups return one result for each input, in order. */

import { expect, test } from "vitest";
import { guild } from "../support/fixtures.ts";
import { expectData, useContractServer } from "./contract_server.ts";

const { fixtures, send, platform } = useContractServer();
const key = fixtures.key({
  tier: "premium",
  links: { 100001: "1", 100002: { gameId: "2", at: "2026-01-02T00:00:00.000Z" }, 100003: "2" },
});
const unresolved = { game: null, chat: null };
const message: unknown = expect.any(String);

const found = (input: object, data: object) => ({ input, found: true, data, error: null });
const failed = (input: object, status: number, code: string, details: object | null = null) => ({
  input,
  found: false,
  data: null,
  error: { code, message, details, status },
});
const invalid = (name: string) => ({ parameters: [{ name, reason: message }] });

test("bulk lookups of chat users return a result for duplicate, unknown and invalid IDs", async () => {
  const chatIds = ["100003", "100001", "nonsense", "100009", "100001", "", "1234"];
  const answer = await send("POST /v2/chat/bulk", { key, body: { chatIds } });
  expectData(answer, {
    results: [
      found({ chatId: "100003" }, { chatId: "100003", gameId: "2", resolved: unresolved }),
      found({ chatId: "100001" }, { chatId: "100001", gameId: "1", resolved: unresolved }),
      failed({ chatId: "nonsense" }, 400, "INVALID_PARAMETER", invalid("chatId")),
      failed({ chatId: "100009" }, 404, "LINK_NOT_FOUND"),
      found({ chatId: "100001" }, { chatId: "100001", gameId: "1", resolved: unresolved }),
      failed({ chatId: "" }, 400, "INVALID_PARAMETER", invalid("chatId")),
      failed({ chatId: "1234" }, 400, "INVALID_PARAMETER", invalid("chatId")),
    ],
    count: 7,
    foundCount: 3,
    notFoundCount: 1,
    errorCount: 3,
    resolved: false,
  });
  expect(answer.body.meta?.bulk).toEqual({ uniqueInputs: 6, maxInputs: 50 });
});

test("bulk lookups of game users return the same chat users as single lookups", async () => {
  const answer = await send("POST /v2/game/bulk", { key, body: { gameIds: ["2", "9", "x", "2", "1"] } });
  const single = await send("GET /v2/game?gameId=2", { key });
  expect(single.body.data).toMatchObject({ chatIds: ["100002", "100003"], count: 2 });
  expectData(answer, {
    results: [
      found({ gameId: "2" }, single.body.data ?? {}),
      failed({ gameId: "9" }, 404, "LINK_NOT_FOUND"),
      failed({ gameId: "x" }, 400, "INVALID_PARAMETER", invalid("gameId")),
      found({ gameId: "2" }, single.body.data ?? {}),
      found({ gameId: "1" }, { gameId: "1", chatIds: ["100001"], count: 1, resolved: unresolved }),
    ],
    count: 5,
    foundCount: 3,
    notFoundCount: 1,
    errorCount: 1,
    resolved: false,
  });
  expect(answer.body.meta?.bulk).toEqual({ uniqueInputs: 4, maxInputs: 50 });
});

test("bulk lookups take 50 inputs, counting duplicates", async () => {
  const { body } = await send("POST /v2/chat/bulk", { key, body: { chatIds: Array(50).fill("100001") } });
  expect([body.data, body.meta?.bulk]).toMatchObject([{ count: 50 }, { uniqueInputs: 1, maxInputs: 50 }]);
});

/** A scope with a chat user whose membership was never requested. */
const unseen = fixtures.key({ links: { 100001: "1", 100020: "2" } });

test("bulk lookups while the chat platform is down fail for each user whose membership is unknown", async () => {
  // The service caches that the bot is in the guild and that user 100001 is a member. It caches nothing about others.
  await send(`GET /v2/chat?chatId=100001&guildId=${guild}`, { key });
  await platform.fail({ mode: "down", platform: "chat", status: 500 });
  const chatIds = ["100001", "100009", "x"];
  const chats = await send("POST /v2/chat/bulk", { key, body: { chatIds, guildId: guild } });
  expect([chats.status, chats.body.data]).toMatchObject([
    200,
    {
      results: [
        { found: true },
        failed({ chatId: "100009" }, 503, "INTERNAL_ERROR"),
        failed({ chatId: "x" }, 400, "INVALID_PARAMETER", invalid("chatId")),
      ],
      foundCount: 1,
      notFoundCount: 0,
      errorCount: 2,
    },
  ]);
  const gameIds = ["1", "2", "9"];
  const games = await send("POST /v2/game/bulk", { key: unseen, body: { gameIds, guildId: guild } });
  expect(games.body.data).toMatchObject({
    results: [
      { found: true },
      failed({ gameId: "2" }, 503, "INTERNAL_ERROR"),
      failed({ gameId: "9" }, 404, "LINK_NOT_FOUND"),
    ],
    errorCount: 1,
  });
});
