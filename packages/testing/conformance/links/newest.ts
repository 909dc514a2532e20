import { ChatId, type StoragePorts } from "@accountlink/core";
import { dayMs } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { expectEqual, expectThat } from "../expect.ts";
import { ada, bob, chess, cyd } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { line, newLinkSteps } from "./link_steps.ts";

export const newest: Cases<StoragePorts> = {
  "newestPage has the newest link first, links of one time by chat user, and goes on from a place":
    function* () {
      const links = yield* newLinkSteps;
      yield* links.load([line(cyd, chess, 1), line(bob, chess, 2), line(ada, chess, 2)]);
      const page = (...asked: Parameters<typeof links.newest>) =>
        Effect.map(links.newest(...asked), (found) => found.map(({ chatId }) => chatId));
      const place = { lastVerifiedAt: 2, chatId: bob };
      expectEqual(yield* page(null, 10), [ada, bob, cyd]);
      expectEqual(yield* page(place, 10), [cyd]);
      expectEqual(yield* page(place, 10, "newer"), [ada]);
    },
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
  "countWays counts links by how they were confirmed, and those since a time by their proof": function* () {
    const { set, load, remove, ways } = yield* newLinkSteps;
    expectEqual(yield* ways(0), []);
    const [dan, eve] = [ChatId.make("10004"), ChatId.make("10005")];
    yield* load([line(ada, chess, 1), line(bob, chess, 1)], "replace", null, 0, "words");
    yield* load([line(cyd, chess, 7)]);
    // Names the proven account again, which is no proof.
    yield* set(ada, chess, 9);
    yield* set(dan, chess, 9);
    yield* set(eve, chess, 9);
    yield* remove(eve, 10);
    expectEqual(yield* ways(2), [
      { proof: "hand", links: 1, recent: 1 },
      { proof: "import", links: 1, recent: 1 },
      { proof: "words", links: 2, recent: 0 },
    ]);
    expectEqual(yield* ways(10), [
      { proof: "hand", links: 1, recent: 0 },
      { proof: "import", links: 1, recent: 0 },
      { proof: "words", links: 2, recent: 0 },
    ]);
  },
};
