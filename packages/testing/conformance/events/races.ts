import {
  type ChatId,
  type Conflict,
  LinkStore,
  type StoragePorts,
  type StoreUnavailable,
} from "@accountlink/core";
import type { FeedEvent } from "@accountlink/core/events";
import type { PortableLink } from "@accountlink/core/links";
import { Array as Arr, Effect, Fiber } from "effect";
import { uniqueChatId } from "../../mod.ts";
import { expectEqual, expectThat, pluck } from "../expect.ts";
import { line } from "../links/link_steps.ts";
import { ada, atOnce, chess, origin, poker } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { newEventSteps } from "./event_steps.ts";

const writers = Arr.range(0, 7);
const rounds = 15;

export const races: Cases<StoragePorts> = {
  "a reader of the feed sees each event once during writes, and each user's events in order": function* () {
    const { pid, read, range } = yield* newEventSteps;
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
    const writing = yield* Effect.forkChild(Effect.forEach(writers, write, atOnce));
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
      pluck(followed, "id"),
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

  "applying the feed to an earlier list of all links gives the links of the store": function* () {
    const steps = yield* newEventSteps;
    const { links } = steps;
    const users = Array.from({ length: 12 }, uniqueChatId);
    const userAt = (i: number) => users[i % users.length] ?? ada;
    const write = (writer: number) =>
      Effect.forEach(
        Array.from({ length: rounds }, (_, round) => writer * 31 + round * 17),
        (chance): Effect.Effect<unknown, Conflict | StoreUnavailable> => {
          const [chatId, gameId] = [userAt(chance), chance % 2 === 0 ? chess : poker];
          if (chance % 41 === 0) return links.deleteAll();
          if (chance % 23 === 0)
            return links.load([line(chatId, gameId, chance), line(userAt(chance + 1), chess)]);
          if (chance % 5 === 0) return links.remove(chatId);
          return chance % 7 === 0 ? links.move(chatId, userAt(chance + 3)) : links.set(chatId, gameId);
        },
        { discard: true },
      );
    const writing = yield* Effect.forkChild(Effect.forEach(writers, write, atOnce));

    const copy = new Map<string, string>();
    let position = 0;
    const listAll = Effect.gen(function* () {
      position = (yield* steps.range).end;
      copy.clear();
      for (let after: ChatId | null = null; ; ) {
        const page: ReadonlyArray<PortableLink> = yield* links.page(after, 3);
        for (const { chatId, gameId } of page) copy.set(chatId, gameId);
        const last = page.at(-1);
        if (page.length < 3 || last === undefined) return;
        after = last.chatId;
        yield* Effect.yieldNow;
      }
    });
    const step = Effect.gen(function* () {
      const events = (yield* steps.read(position, 5)) ?? [];
      for (const { type, data, position: reached } of events) {
        position = reached;
        if (type === "links.imported" || type === "scope.deleted") yield* listAll;
        if (type === "links.imported" || type === "scope.deleted") break;
        if (type === "link.moved") copy.delete(data.previousChatId);
        if (type === "link.removed") copy.delete(data.chatId);
        if (type === "link.set" || type === "link.moved") copy.set(data.chatId, data.gameId);
      }
      return events.length;
    });
    yield* listAll;
    while (writing.pollUnsafe() === undefined) {
      yield* step;
      yield* Effect.yieldNow;
    }
    yield* Fiber.join(writing);
    while ((yield* step) > 0);
    const stored = yield* links.all;
    expectEqual(new Map(copy), new Map(stored.map(({ chatId, gameId }) => [String(chatId), String(gameId)])));
  },

  "a read after a completed write contains its event": function* () {
    const { links, range, read } = yield* newEventSteps;
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
    yield* Effect.forEach(writers.map(uniqueChatId), write, atOnce);
  },
};
