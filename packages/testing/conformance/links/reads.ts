import { ChatId, GameId, type StoragePorts } from "@accountlink/core";
import { Effect } from "effect";
import { expectEqual } from "../expect.ts";
import type { Cases } from "../suite.ts";
import { newLinkBench } from "./link_bench.ts";

export const reads: Cases<StoragePorts> = {
  "lookups of many take 50 IDs": Effect.gen(function* () {
    const links = yield* newLinkBench;
    const chatIds = Array.from({ length: 50 }, (_, i) => ChatId.make(`${20_000 + i}`));
    const gameIds = chatIds.map((_, i) => GameId.make(`${i}`));
    yield* Effect.forEach(chatIds, (chatId, i) => links.set(chatId, gameIds[i] as GameId, i));
    const records = yield* links.findMany(chatIds);
    expectEqual(
      chatIds.map((chatId) => records.get(chatId)?.gameId),
      gameIds,
    );
    const games = yield* links.gamesOf(...chatIds);
    expectEqual(
      chatIds.map((chatId) => games.get(chatId)),
      gameIds,
    );
    const chats = yield* links.chatsOf(...gameIds);
    expectEqual(
      gameIds.map((gameId) => chats.get(gameId)),
      chatIds.map((chatId) => [chatId]),
    );
  }),

  "IDs are text: 32 digits and leading zeros are significant": Effect.gen(function* () {
    const links = yield* newLinkBench;
    const chatIds = ["00001", "000001", "0".repeat(32), "9".repeat(32), `${"9".repeat(31)}8`].map((id) =>
      ChatId.make(id),
    );
    const gameIds = ["1", "01", "0".repeat(32), "9".repeat(32), `${"9".repeat(31)}8`].map((id) =>
      GameId.make(id),
    );
    yield* Effect.forEach(chatIds, (chatId, i) => links.set(chatId, gameIds[i] as GameId));
    for (const [i, chatId] of chatIds.entries()) {
      const gameId = gameIds[i] as GameId;
      expectEqual((yield* links.find(chatId))?.gameId, gameId);
      expectEqual(yield* links.chatsOf(gameId), new Map([[gameId, [chatId]]]));
    }
  }),
};
