import { ChatId, GameId, type StoragePorts } from "@accountlink/core";
import { Effect, Option } from "effect";
import { expectEqual } from "../expect.ts";
import type { Cases } from "../suite.ts";
import { ada, bob, chess, cyd, poker, rummy } from "../world.ts";
import { newLinkBench, twoLinkBenches } from "./link_bench.ts";

export const reads: Cases<StoragePorts> = {
  "findByChatId returns none for a chat user without a record": Effect.gen(function* () {
    const links = yield* newLinkBench;
    expectEqual(yield* links.find(ada), null);
  }),

  "findByChatId returns the whole record, before and after removeGame": Effect.gen(function* () {
    const links = yield* newLinkBench;
    yield* links.set(ada, chess, 1_000);
    const record = { chatId: ada, gameId: chess, linkVersion: 1, linkedAt: 1_000, lastVerifiedAt: 1_000 };
    expectEqual(yield* links.find(ada), record);
    yield* links.remove(ada, 2_000);
    expectEqual(yield* links.find(ada), { ...record, gameId: null, linkVersion: 2, linkedAt: 2_000 });
  }),

  "findByChatIds returns each record once, and omits chat users without one": Effect.gen(function* () {
    const links = yield* newLinkBench;
    yield* links.set(ada, chess);
    yield* links.set(bob, poker);
    yield* links.remove(bob);
    const found = yield* links.findMany([bob, ada, cyd, ada, bob]);
    expectEqual(found.size, 2);
    expectEqual(found.get(ada) ?? null, yield* links.find(ada));
    expectEqual(found.get(bob) ?? null, yield* links.find(bob));
  }),

  "findGamesByChatIds returns each game user once, and omits chat users without a link": Effect.gen(
    function* () {
      const links = yield* newLinkBench;
      yield* links.set(ada, chess);
      yield* links.set(bob, poker);
      expectEqual(
        yield* links.gamesOf(bob, ada, cyd, ada),
        new Map([
          [ada, chess],
          [bob, poker],
        ]),
      );
      yield* links.remove(bob);
      expectEqual(yield* links.gamesOf(bob, ada), new Map([[ada, chess]]));
      expectEqual(yield* links.gamesOf(bob), new Map());
    },
  ),

  "lookups of many take an empty list": Effect.gen(function* () {
    const links = yield* newLinkBench;
    expectEqual(yield* links.findMany([]), new Map());
    expectEqual(yield* links.gamesOf(), new Map());
    expectEqual(yield* links.chatsOf(), new Map());
  }),

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

  "findByGameIds omits game users without a link": Effect.gen(function* () {
    const links = yield* newLinkBench;
    yield* links.set(ada, chess);
    yield* links.set(bob, poker);
    yield* links.set(bob, chess, 1);
    yield* links.set(cyd, rummy);
    yield* links.remove(cyd);
    expectEqual(yield* links.chatsOf(chess, poker, chess, rummy), new Map([[chess, [bob, ada]]]));
  }),

  "findByGameIds sorts by newest link, then by chat ID as text": Effect.gen(function* () {
    const links = yield* newLinkBench;
    const [short, long] = [ChatId.make("99999"), ChatId.make("100000")];
    yield* links.set(short, chess, 5);
    yield* links.set(long, chess, 5);
    yield* links.set(ada, chess, 9);
    yield* links.set(bob, chess, 1);
    expectEqual(yield* links.chatsOf(chess), new Map([[chess, [ada, long, short, bob]]]));
  }),

  "a confirmed link keeps its place in findByGameIds": Effect.gen(function* () {
    const links = yield* newLinkBench;
    yield* links.set(ada, chess, 1);
    yield* links.set(bob, chess, 2);
    yield* links.set(ada, chess, 3);
    expectEqual(yield* links.chatsOf(chess), new Map([[chess, [bob, ada]]]));
    yield* links.remove(ada, 4);
    yield* links.set(ada, chess, 5);
    expectEqual(yield* links.chatsOf(chess), new Map([[chess, [ada, bob]]]));
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

  "data of a scope is invisible in every other scope": Effect.gen(function* () {
    const [here, there] = yield* twoLinkBenches;
    yield* here.set(ada, chess);
    expectEqual(yield* there.find(ada), null);
    expectEqual(yield* there.findMany([ada]), new Map());
    expectEqual(yield* there.chatsOf(chess), new Map());
    expectEqual(yield* there.all, []);
    expectEqual(yield* there.remove(ada), Option.none());
    expectEqual(yield* there.move(ada, bob), { _tag: "NoLink" });
    yield* there.set(ada, poker);
    expectEqual(yield* there.deleteAll(), 1);
    expectEqual((yield* here.find(ada))?.gameId, chess);
  }),
};
