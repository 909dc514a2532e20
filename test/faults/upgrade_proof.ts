/** A rolling upgrade of three nodes to the next release, while clients write and read. */
import { Effect } from "effect";
import { expect, test } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { useFolder } from "../support/folder.ts";
import { countOf, startCountingClients } from "./counting_clients.ts";
import { makeNextRelease } from "./next_release.ts";
import { startService, whyNoService } from "./service.ts";

const missing = await whyNoService();

const folder = useFolder();

test.skipIf(missing !== null)(
  `nodes of two releases serve together, and lose no write ${missing ?? ""}`,
  () =>
    Effect.gen(function* () {
      const next = yield* Effect.promise(() => makeNextRelease(folder));
      const fixtures = makeFixtures();
      const key = fixtures.key();
      const { nodes } = yield* startService({ fixture: fixtures.fixture });
      const clients = startCountingClients({
        key,
        count: 6,
        targetsOf: () => nodes,
        isNamed: (client) => client % 2 === 0,
      });
      for (const node of nodes) {
        yield* Effect.sleep("1 second");
        expect(yield* node.stop).toBe(0);
        yield* node.restart(next);
      }
      yield* Effect.sleep("1 second");
      const writes = yield* Effect.promise(clients.stop);
      console.log({ requests: clients.attempts.length, writes });
      expect(writes).toBeGreaterThan(50);
      expect(countOf(clients.attempts, "unavailable")).toBe(0);
    }).pipe(Effect.scoped, Effect.runPromise),
);
