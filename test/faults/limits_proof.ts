/** Three hundred rounds of what `three_nodes_test.ts` does with limits. */
import { Effect } from "effect";
import { test } from "vitest";
import { makeWorld } from "../support/world.ts";
import { expectExactLimits, limitedKeys } from "./limits.ts";
import { startService, whyNoService } from "./service.ts";

const missing = await whyNoService();

test.skipIf(missing !== null)(`limits are exact over three nodes, 300 times ${missing ?? ""}`, () =>
  Effect.gen(function* () {
    const world = makeWorld();
    const keys = limitedKeys(world, 330);
    const { nodes } = yield* startService({ fixture: world.fixture });
    yield* Effect.promise(() => expectExactLimits(nodes, keys, 300));
  }).pipe(Effect.scoped, Effect.runPromise),
);
