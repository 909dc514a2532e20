import { EventStore, type StoragePorts } from "@accountlink/core";
import { erasedMark } from "@accountlink/core/users";
import { Effect } from "effect";
import { expectEqual, expectThat, pluck } from "../expect.ts";
import { ada, chess, makeScopes, poker } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { newUserSteps } from "../users/user_steps.ts";
import { eventSteps, newEventSteps } from "./event_steps.ts";

const positions = (events: ReadonlyArray<{ readonly position: number }> | null) =>
  events?.map(({ position }) => position) ?? null;

export const reads: Cases<StoragePorts> = {
  "the feed of a scope without events can be read and is empty": function* () {
    const { pid, read, readBack, range } = yield* newEventSteps;
    const { start, end } = yield* range;
    expectThat(0 <= start && start <= end, `a feed from ${start} to ${end} can be read`);
    expectEqual(yield* read(end), []);
    expectEqual(yield* readBack(null, 10), []);
    expectEqual(yield* (yield* EventStore).newer([{ pid, after: end }]), []);
  },

  "read pages forwards, readBack backwards, and range ends at the last event": function* () {
    const { links, read, readBack, range, all } = yield* newEventSteps;
    const { start } = yield* range;
    for (let i = 0; i < 7; i++) yield* links.set(ada, i % 2 === 0 ? chess : poker, i);
    const feed = positions(yield* all) ?? [];
    expectEqual(feed.length, 7, "The number of events");
    expectEqual(
      feed,
      feed.toSorted((one, other) => one - other),
    );
    const first = (yield* read(0, 3)) ?? [];
    expectEqual(positions(first), feed.slice(0, 3));
    expectEqual(positions(yield* read(feed[2] ?? 0, 3)), feed.slice(3, 6));
    expectEqual(positions(yield* read(feed[6] ?? 0, 3)), []);
    expectEqual(positions(yield* readBack(null, 3)), feed.slice(4).toReversed());
    expectEqual(positions(yield* readBack(feed[4] ?? 0, 10)), feed.slice(0, 4).toReversed());
    expectEqual(positions(yield* readBack(feed[0] ?? 0, 10)), []);
    expectEqual(positions(yield* read(start)), feed);
    const { end } = yield* range;
    expectEqual(end, feed[6] ?? 0);
    expectEqual(yield* read(end + 1_000_000), null, "Events after the end");
  },

  "each scope has its own feed": function* () {
    const { global, guild } = yield* makeScopes;
    const [one, other] = [yield* eventSteps(global), yield* eventSteps(guild)];
    const { newer } = yield* EventStore;
    const places = [
      { pid: one.pid, after: (yield* one.range).end },
      { pid: other.pid, after: (yield* other.range).end },
    ];
    yield* one.links.set(ada, chess, 1);
    expectEqual(yield* newer(places), [one.pid]);
    yield* other.links.set(ada, poker, 2);
    expectEqual(new Set(yield* newer(places)), new Set([one.pid, other.pid]));
    expectEqual(pluck(yield* one.all, "at"), [1]);
    expectEqual(pluck(yield* other.all, "at"), [2]);
  },

  "a sweep deletes old events, and read returns none for positions before them": function* () {
    const { links, range, read, all } = yield* newEventSteps;
    const { sweep, oldestAt } = yield* EventStore;
    // A sweep deletes old events of all scopes. This case uses times long before the times of other cases, so that it
    // deletes only its own events.
    const long = -9_000_000_000_000;
    const { start } = yield* range;
    for (let i = 0; i < 5; i++) yield* links.set(ada, i % 2 === 0 ? chess : poker, long + i);
    const events = yield* all;
    const place = (index: number) => events[index]?.position ?? 0;
    expectThat((yield* oldestAt()) !== null, "there is an oldest event");
    yield* sweep({ before: long + 3, erasuresBefore: long });
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
    yield* Effect.forEach(
      Array.from({ length: 1_200 }, (_, i) => i),
      write,
      { discard: true },
    );
    yield* sweep({ before: long + 1, erasuresBefore: long });
    const { start, end } = yield* range;
    expectEqual([yield* read(end), start], [[], end]);
    yield* Effect.exit(all);
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
