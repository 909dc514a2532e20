import { EventStore, LinkStore, type StoragePorts } from "@accountlink/core";
import { erasedMark } from "@accountlink/core/users";
import { Array as Arr, Effect } from "effect";
import { expectEqual, expectThat, pluck } from "../expect.ts";
import { ada, chess, makeScopes, poker } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { newUserSteps } from "../users/user_steps.ts";
import { eventSteps, newEventSteps } from "./event_steps.ts";

const positions = (events: ReadonlyArray<{ readonly position: number }> | null) =>
  events?.map(({ position }) => position) ?? null;

export const sweeps: Cases<StoragePorts> = {
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
};
