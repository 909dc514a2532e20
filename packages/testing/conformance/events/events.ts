import {
  type ChatId,
  type Conflict,
  EventStore,
  LinkStore,
  type StoragePorts,
  type StoreUnavailable,
} from "@accountlink/core";
import type { FeedEvent } from "@accountlink/core/events";
import type { PortableLink } from "@accountlink/core/links";
import { erasedMark } from "@accountlink/core/users";
import { Array as Arr, Effect, Fiber } from "effect";
import { uniqueChatId } from "../../mod.ts";
import { expectEqual, expectThat, pluck } from "../expect.ts";
import { line } from "../links/link_steps.ts";
import { ada, atOnce, chess, makeScopes, origin, poker } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { newUserSteps } from "../users/user_steps.ts";
import { eventSteps, newEventSteps } from "./event_steps.ts";

const writers = Arr.range(0, 7);
const rounds = 15;

const positions = (events: ReadonlyArray<{ readonly position: number }> | null) =>
  events?.map(({ position }) => position) ?? null;

export const eventCases: Cases<StoragePorts> = {
  "a sweep deletes old events, and read returns none for positions before them": function* () {
    const { links, range, read, all } = yield* newEventSteps;
    const { sweep } = yield* EventStore;
    // A sweep deletes old events of all scopes. This case uses times long before the times of other cases, so that it
    // deletes only its own events.
    const long = -9_000_000_000_000;
    const { start } = yield* range;
    for (let i = 0; i < 5; i++) yield* links.set(ada, i % 2 === 0 ? chess : poker, long + i);
    const events = yield* all;
    const place = (index: number) => events[index]?.position ?? 0;
    const swept = yield* sweep({ before: long + 3, erasuresBefore: long });
    expectEqual(swept, { forgotten: 3, oldestAt: long + 3 });
    expectEqual(yield* read(start), null);
    expectEqual(yield* read(place(1)), null);
    expectEqual(positions(yield* read(place(2))), [place(3), place(4)]);
    expectEqual((yield* range).start, place(2), "The start");

    yield* sweep({ before: long + 5, erasuresBefore: long });
    expectEqual(positions(yield* read(place(4))), []);
    expectEqual(yield* read(place(3)), null);
    yield* links.remove(ada, long + 6);
    const [next, ...rest] = (yield* read(place(4))) ?? [];
    expectEqual([next?.type, rest], ["link.removed", []]);
    expectThat((next?.position ?? 0) > place(4), "positions grow past what was deleted");
  },

  "a sweep deletes any number of events": function* () {
    const { links, all, range, read } = yield* newEventSteps;
    const { sweep } = yield* EventStore;
    const long = -8_000_000_000_000;
    const write = (i: number) => links.set(ada, i % 2 === 0 ? chess : poker, long);
    yield* Effect.forEach(Arr.range(1, 1_200), write, { discard: true });
    yield* sweep({ before: long + 1, erasuresBefore: long });
    const { start, end } = yield* range;
    expectEqual([yield* read(end), start], [[], end]);
    yield* Effect.exit(all);
  },

  "the events of a user say who made each change, also within one millisecond": function* () {
    const { pid, all } = yield* newEventSteps;
    const links = yield* LinkStore;
    const authors = Array.from({ length: 25 }, (_, i) => `author ${i}`);
    for (const [i, id] of authors.entries()) {
      const write = { actor: { type: "operator", id }, requestId: null, pid, at: 5 } as const;
      yield* links.setGame({ ...write, chatId: ada, gameId: i % 2 === 0 ? chess : poker });
    }
    expectEqual(
      (yield* all).map(({ entry }) => entry?.actor.id),
      authors,
    );
  },

  "the event of an erasure names its user until the sweep": function* () {
    const user = yield* newUserSteps;
    const { global } = yield* makeScopes;
    const { links, all } = yield* eventSteps(global);
    const { sweep } = yield* EventStore;
    yield* links.set(user.chatId, chess, 1);
    yield* user.eraseAll;
    const told = Effect.map(all, (events) =>
      pluck(
        events.filter(({ type }) => type === "user.erased"),
        "data",
      ),
    );
    yield* sweep({ before: -9_900_000_000_000, erasuresBefore: 7 });
    expectEqual(yield* told, [{ chatId: user.chatId }]);
    yield* sweep({ before: -9_900_000_000_000, erasuresBefore: 8 });
    expectEqual(yield* told, [{ chatId: erasedMark }]);
  },

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
