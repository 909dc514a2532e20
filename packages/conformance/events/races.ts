import { type ChatId, LinkStore, type StoragePorts } from "@accountlink/core";
import type { FeedEvent } from "@accountlink/core/events";
import { uniqueChatId } from "@accountlink/testing";
import { Effect, Fiber } from "effect";
import { expectEqual, expectThat } from "../expect.ts";
import type { Cases } from "../suite.ts";
import { chess, origin, poker } from "../world.ts";
import { newEventBench } from "./event_bench.ts";

const writers = 8;
const rounds = 15;

/** Readers that follow the feed while others write. */
export const races: Cases<StoragePorts> = {
  "who follows the feed while others write sees each event once, and those of a user in order": Effect.gen(
    function* () {
      const { pid, read, range } = yield* newEventBench;
      const store = yield* LinkStore;
      const users = Array.from({ length: 3 }, uniqueChatId);
      const [one] = users as [ChatId];
      const { start } = yield* range;
      const write = (writer: number) =>
        Effect.forEach(
          Array.from({ length: rounds }, (_, round) => round),
          (round) => {
            const chatId = users[(writer + round) % users.length] ?? one;
            const gameId = (writer + round) % 2 === 0 ? chess : poker;
            const change = { ...origin, pid, at: round, chatId };
            return round % 5 === 4
              ? Effect.asVoid(store.removeGame(change))
              : Effect.asVoid(store.setGame({ ...change, gameId }));
          },
          { discard: true },
        );
      const writing = yield* Effect.forkChild(
        Effect.forEach(
          Array.from({ length: writers }, (_, i) => i),
          write,
          { concurrency: "unbounded" },
        ),
      );
      const followed: Array<FeedEvent> = [];
      const step = Effect.gen(function* () {
        const events = (yield* read(followed.at(-1)?.position ?? start, 7)) ?? [];
        followed.push(...events);
        return events.length;
      });
      while (writing.pollUnsafe() === undefined) {
        yield* step;
        yield* Effect.yieldNow;
      }
      yield* Fiber.join(writing);
      while ((yield* step) > 0);

      const all = (yield* read(start)) ?? [];
      expectEqual(
        followed.map(({ id }) => id),
        all.map(({ id }) => id),
      );
      for (const chatId of users) {
        const versions = all.flatMap(({ data }) =>
          "linkVersion" in data && data.chatId === chatId ? [data.linkVersion] : [],
        );
        expectEqual(
          versions,
          versions.map((_, i) => i + 1),
          `The versions of ${chatId}`,
        );
      }
    },
  ),

  "a read that begins after a write was answered has its event": Effect.gen(function* () {
    const { links, range, read } = yield* newEventBench;
    const write = Effect.fnUntraced(function* (chatId: ChatId) {
      for (let round = 0; round < rounds; round++) {
        const { end } = yield* range;
        yield* links.set(chatId, round % 2 === 0 ? chess : poker, round);
        const seen = (yield* read(end)) ?? [];
        const isThere = seen.some(
          ({ at, data }) => at === round && "chatId" in data && data.chatId === chatId,
        );
        expectThat(isThere, `the event of round ${round} is there`);
      }
    });
    yield* Effect.forEach(Array.from({ length: writers }, uniqueChatId), write, { concurrency: "unbounded" });
  }),
};
