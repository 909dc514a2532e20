import { expect, test } from "@accountlink/test-servers/effect";
import { MemoryWorld } from "@accountlink/testing";
import { Effect, Layer } from "effect";
import { TestClock } from "effect/testing";
import { Counters } from "../limits/counters.ts";
import { ChargedAccount, PlatformRefusals } from "./platform_refusals.ts";

const limit = 200;

test("an account with few refusals is read once a second, and one with many each time", function* () {
  const [found, reads] = [{ count: 0 }, { count: 0 }];
  const counters = Layer.mock(Counters)({
    read: () =>
      Effect.sync(() => {
        reads.count++;
        return [{ count: found.count, resetsAt: 600_000 }];
      }),
    admit: () => Effect.sync(() => ({ count: ++found.count }) as never),
  });
  yield* Effect.gen(function* () {
    const { chargeTo } = yield* PlatformRefusals;
    const charged = yield* chargeTo("ada")(ChargedAccount);
    if (charged === null) return expect.fail("nobody is charged");
    const { check, charge } = charged;
    for (let time = 0; time < 3; time++) yield* check;
    expect(reads.count).toBe(1);
    yield* TestClock.adjust(1_000);
    yield* check;
    expect(reads.count).toBe(2);
    for (let refusal = 0; refusal < limit / 2; refusal++) yield* charge;
    for (let time = 0; time < 3; time++) yield* check;
    expect(reads.count).toBe(5);
    for (let refusal = 0; refusal < limit / 2; refusal++) yield* charge;
    expect(yield* Effect.flip(check)).toMatchObject({ details: { bucket: "platform_refusals" } });
  }).pipe(Effect.provide(Layer.provide(PlatformRefusals.layer, [counters, MemoryWorld.secrets])));
});
