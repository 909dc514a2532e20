import { ChatId, type StoragePorts } from "@accountlink/core";
import { dayMs } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { expectEqual, expectThat } from "../expect.ts";
import { ada, bob, chess, cyd, poker } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { line, newLinkSteps, twoLinkSteps } from "./link_steps.ts";

export const newest: Cases<StoragePorts> = {
  "countLinks may stop at the number that is enough, and is exact below it": function* () {
    const links = yield* newLinkSteps;
    const some = [line(ada, chess, 1), line(bob, chess, 2), line(cyd, chess, 3)];
    yield* links.load(some, "replace", null, 0, null);
    yield* links.remove(bob, 4);
    const verified = { from: 0, before: dayMs };
    for (const options of [{}, { verified }]) {
      const upTo = (enough: number) => links.count({ ...options, enough });
      expectThat([1, 2].includes(yield* upTo(1)), "One link is enough.");
      expectEqual(yield* upTo(2), 2);
      expectEqual(yield* upTo(3), 2);
    }
    expectEqual(yield* links.count({ verified: { from: dayMs, before: dayMs }, enough: 1 }), 0);
  },

  "countLinks counts the links last verified in a period, after any kind of write": function* () {
    const [links, other] = yield* twoLinkSteps;
    const day = 20_000 * dayMs;
    const counts = Effect.forEach([-2, -1, 0, 1], (days) =>
      links.countBetween(day + days * dayMs, day + (days + 1) * dayMs),
    );
    yield* links.set(ada, chess, day);
    yield* links.set(bob, chess, day - 1);
    yield* links.set(cyd, poker, day + dayMs - 1);
    yield* other.set(ada, chess, day);
    expectEqual(yield* counts, [0, 1, 2, 0]);
    yield* links.set(bob, chess, day + dayMs);
    expectEqual(yield* counts, [0, 0, 2, 1]);
    yield* links.set(ada, poker, day + 1);
    yield* links.remove(cyd, day + 2);
    expectEqual(yield* counts, [0, 0, 1, 1]);
    yield* links.move(bob, cyd, day + 3);
    expectEqual(yield* counts, [0, 0, 2, 0]);
    const some = [line(ada, poker, day - dayMs), line(bob, chess, day - dayMs - 1)];
    yield* links.load(some, "replace", null, 0, null);
    expectEqual(yield* counts, [1, 1, 1, 0]);
    const imported = Array.from({ length: 30 }, (_, i) => line(ChatId.make(`${90_000 + i}`), chess, day));
    yield* links.load(imported);
    expectEqual(yield* counts, [1, 1, 1, 0], "Without imported links, which nobody verified");
    expectEqual(yield* links.count(), 33, "All links");
    expectEqual(yield* links.countBetween(day - 2 * dayMs, day), 2);
    expectEqual(yield* links.countBetween(day, day), 0);
    yield* links.deleteAll(day + 4);
    expectEqual(yield* counts, [0, 0, 0, 0]);
    expectEqual(yield* other.countBetween(day, day + dayMs), 1);
  },
};
