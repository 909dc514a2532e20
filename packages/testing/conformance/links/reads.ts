import { ChatId, GameId, type StoragePorts } from "@accountlink/core";
import { maxChatsOfGame, type PortableLink } from "@accountlink/core/links";
import { Effect, Fiber } from "effect";
import { expectEqual } from "../expect.ts";
import { chess, poker } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { line, newLinkSteps } from "./link_steps.ts";

export const reads: Cases<StoragePorts> = {
  "batch lookups take 50 IDs": function* () {
    const links = yield* newLinkSteps;
    const chatIds = Array.from({ length: 50 }, (_, i) => ChatId.make(`${20_000 + i}`));
    const gameIds = chatIds.map((_, i) => GameId.make(`${i}`));
    yield* links.load(chatIds.map((chatId, i) => line(chatId, gameIds[i] as GameId)));
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
  },

  "findByGameIds returns the newest thousand chat users of a game user, and all of another one":
    function* () {
      const links = yield* newLinkSteps;
      const [many, few] = [GameId.make("1"), GameId.make("2")];
      // Create more links than `findByGameIds` returns. The last returned links and the omitted links have the same
      // time, so that their chat IDs decide which links are returned.
      const chatIds = Array.from({ length: maxChatsOfGame + 5 }, (_, i) => ChatId.make(`${20_000 + i}`));
      const last = 10_003 - maxChatsOfGame;
      const lines = chatIds.map((chatId, index) => line(chatId, many, Math.max(10_000 - index, last)));
      yield* links.load(lines.toReversed());
      const one = ChatId.make("19999");
      yield* links.set(one, few, 5_000);
      const newest = chatIds.slice(0, maxChatsOfGame);
      expectEqual((yield* links.chatsOf(many)).get(many), newest);
      const some = (yield* links.newestOf(many, 10)).get(many) ?? [];
      expectEqual(some.length >= 10, true);
      expectEqual(some, newest.slice(0, some.length));
      const both = yield* links.chatsOf(many, few, many);
      expectEqual(both.get(many), newest);
      expectEqual(both.get(few), [one]);
      yield* links.set(one, many, 20_000);
      yield* links.remove(newest[1] as ChatId);
      const after = [one, ...newest.toSpliced(1, 1)];
      expectEqual((yield* links.chatsOf(many)).get(many), after);
    },

  "IDs are text: 32 digits and leading zeros are significant": function* () {
    const links = yield* newLinkSteps;
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
  },

  "an export contains every link that exists throughout it": function* () {
    const links = yield* newLinkSteps;
    const standing = Array.from({ length: 60 }, (_, i) => line(ChatId.make(`${40_000 + 2 * i}`), chess, i));
    yield* links.load(standing);
    const others = standing.map(({ chatId }) => ChatId.make(`${Number(chatId) + 1}`));
    const writer = yield* Effect.forEach(others, (chatId) =>
      Effect.andThen(Effect.zip(links.set(chatId, poker), Effect.yieldNow), links.remove(chatId)),
    ).pipe(Effect.forever, Effect.forkChild);
    const exported = yield* exportAll(links, 7);
    yield* Fiber.interrupt(writer);
    expectEqual(
      exported.filter(({ gameId }) => gameId === chess),
      standing,
    );
    const ids = exported.map(({ chatId }) => chatId);
    expectEqual(ids, [...new Set(ids)].toSorted());
  },
};

const exportAll = Effect.fnUntraced(function* (links: Effect.Success<typeof newLinkSteps>, limit: number) {
  const exported: Array<PortableLink> = [];
  for (;;) {
    const page = yield* links.page(exported.at(-1)?.chatId ?? null, limit);
    exported.push(...page);
    if (page.length < limit) return exported;
    yield* Effect.yieldNow;
  }
});
