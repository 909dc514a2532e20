import { type CacheLease, type Fence, LinkCache } from "@accountlink/core";
import { Effect } from "effect";
import { Connection } from "../connection.ts";
import type { Cases } from "../suite.ts";
import { ada, uniquePid, uniqueText } from "../world.ts";
import { eventually, expectEqual, expectThat } from "./expect.ts";

const minute = 60_000;

/** What a cache may say while its connection is broken, and what it must know when that is back. */
export const failingLinkCache: Cases<LinkCache | Connection> = {
  "nothing is found, fenced or lifted, and what comes back is a run that has kept its fences": Effect.gen(
    function* () {
      const cache = yield* LinkCache;
      const connection = yield* Connection;
      const name = { pid: uniquePid(), chatId: ada };
      const leaseOf = Effect.map(cache.look, ({ run, time }): CacheLease => ({ run, until: time + minute }));
      const newFence = ({ run }: CacheLease): Fence => ({ run, records: [name], id: uniqueText() });

      const before = yield* leaseOf;
      const fence = newFence(before);
      expectEqual(yield* cache.fence(before, fence, minute), true);
      yield* connection.break;
      yield* Effect.gen(function* () {
        const answers = [
          Effect.map(cache.read(before, name, minute), (read) => read._tag === "Hit" || read.token !== null),
          cache.fence(before, newFence(before), minute),
          cache.lift(newFence(before)),
        ].map(Effect.catchTag("StoreUnavailable", () => Effect.succeed(false)));
        expectEqual(yield* Effect.all(answers, { concurrency: "unbounded" }), [false, false, false]);
      }).pipe(Effect.ensuring(connection.restore));

      const after = yield* eventually(leaseOf);
      if (after.run === before.run) expectEqual(yield* cache.lift(fence), true);
      else expectEqual(yield* cache.lift(fence), false);
      const read = yield* eventually(cache.read(after, name, minute));
      expectThat(read._tag === "Miss", "nothing was put there");
    },
  ),
};
