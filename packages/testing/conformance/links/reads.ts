import { ChatId, GameId, type StoragePorts } from "@accountlink/core";
import { maxChatsOfGame } from "@accountlink/core/links";
import { Effect } from "effect";
import { expectEqual } from "../expect.ts";
import type { Cases } from "../suite.ts";
import { line, newLinkFixture } from "./link_fixture.ts";

export const reads: Cases<StoragePorts> = {
  "batch lookups take 50 IDs": Effect.gen(function* () {
    const links = yield* newLinkFixture;
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

  "findByGameIds returns the newest thousand chat users of a game user, and all of another one": Effect.gen(
    function* () {
      const links = yield* newLinkFixture;
      const [many, few] = [GameId.make("1"), GameId.make("2")];
      // The last links have the same time, and only some of them are within the limit.
      const chatIds = Array.from({ length: maxChatsOfGame + 5 }, (_, i) => ChatId.make(`${20_000 + i}`));
      const last = 10_003 - maxChatsOfGame;
      const lines = chatIds.map((chatId, index) => line(chatId, many, Math.max(10_000 - index, last)));
      yield* links.load(lines.toReversed());
      const one = ChatId.make("19999");
      yield* links.set(one, few, 5_000);
      const newest = chatIds.slice(0, maxChatsOfGame);
      expectEqual((yield* links.chatsOf(many)).get(many), newest);
      const both = yield* links.chatsOf(many, few, many);
      expectEqual(both.get(many), newest);
      expectEqual(both.get(few), [one]);
      yield* links.set(one, many, 20_000);
      yield* links.remove(newest[1] as ChatId);
      const after = [one, ...newest.toSpliced(1, 1)];
      expectEqual((yield* links.chatsOf(many)).get(many), after);
    },
  ),

  "IDs are text: 32 digits and leading zeros are significant": Effect.gen(function* () {
    const links = yield* newLinkFixture;
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
