/**
 * Two hundred revocations, disablings and suspensions on three nodes, half of them with Redis frozen.
 */
import { Effect } from "effect";
import { expect, test } from "vitest";
import { makeWorld } from "../support/world.ts";
import { planRevocations, runRevocations } from "./revocations.ts";
import { startService, whyNoService } from "./service.ts";

const missing = await whyNoService();

test.skipIf(missing !== null)(`200 keys are refused on every node within a second ${missing ?? ""}`, () =>
  Effect.gen(function* () {
    const world = makeWorld();
    const planned = planRevocations(world, 200);
    const times = yield* runRevocations(yield* startService({ fixture: world.fixture }), planned);
    console.log(times);
    // Four acts, with Redis and without.
    expect(times).toHaveLength(8);
  }).pipe(Effect.scoped, Effect.runPromise),
);
