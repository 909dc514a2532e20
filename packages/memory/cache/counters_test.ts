import { Counters, StoreUnavailable } from "@accountlink/core";
import { type CounterRule, DayCounts } from "@accountlink/core/limits";
import { dayMs } from "@accountlink/core/timestamp";
import { Effect, Layer, Logger } from "effect";
import { TestClock } from "effect/testing";
import { describe, expect, it } from "vitest";
import { StorageMemory } from "../mod.ts";
import { layerSaved, Windows } from "./counters.ts";

const rule = (key: string, durationMs: number) => ({ key, limit: 1, durationMs });

describe("Windows", () => {
  it("counting requests drops most of the windows that have ended", () => {
    const windows = new Windows();
    let largest = 0;
    for (let now = 0; now < 100_000; now++) {
      windows.admit([rule(`client ${now}`, 100)], now);
      largest = Math.max(largest, windows.size);
    }
    expect(largest).toBeLessThan(300);
  });

  it("long windows are kept while short ones are dropped", () => {
    const windows = new Windows();
    const lasting = Array.from({ length: 50 }, (_, i) => rule(`day ${i}`, 1_000_000));
    windows.admit(lasting, 0);
    for (let now = 0; now < 10_000; now++) windows.admit([rule(`second ${now}`, 10)], now);
    expect(windows.read(lasting, 10_000)).toEqual(lasting.map(() => ({ count: 1, resetsAt: 1_000_000 })));
    expect(windows.size).toBeLessThan(150);
  });

  it("a request that is refused by one rule starts no window for another rule", () => {
    const windows = new Windows();
    windows.admit([rule("full", 100)], 0);
    for (let i = 0; i < 100; i++) windows.admit([rule(`other ${i}`, 100), rule("full", 100)], 1);
    expect(windows.size).toBe(1);
  });
});

describe("layerSaved", () => {
  const day: CounterRule = { key: "day", limit: 3, durationMs: dayMs, isDay: true };
  const short: CounterRule = { key: "second", limit: 3, durationMs: dayMs };

  /** Runs counters as one process does, from its start to its end. */
  const process = <A, E>(use: (counters: Counters["Service"]) => Effect.Effect<A, E>) =>
    Counters.use(use).pipe(Effect.provide(Layer.fresh(layerSaved)));

  const run = <A, E>(effect: Effect.Effect<A, E, DayCounts>) =>
    Effect.runPromise(
      effect.pipe(Effect.provide([Layer.fresh(StorageMemory.layer), TestClock.layer(), Logger.layer([])])),
    );

  it("after a restart, the counts of a day continue, and short windows begin anew", () =>
    run(
      Effect.gen(function* () {
        yield* process((counters) => Effect.replicateEffect(counters.admit([day, short], 0), 2));
        const { states } = yield* process((counters) => counters.admit([day, short], 0));
        expect(states.map(({ count }) => count)).toEqual([3, 1]);
      }),
    ));

  it("counts are saved every 5 seconds, and again after a failed save", () =>
    run(
      Effect.gen(function* () {
        const { load, save } = yield* DayCounts;
        const saved = Effect.map(load(0), (counts) => counts.map(({ counted }) => counted));
        const refused = Effect.fail(new StoreUnavailable({ operation: "DayCounts.save" }));
        const state = { isDown: true };
        const failing: DayCounts["Service"] = {
          load,
          save: (...counts) => (state.isDown ? refused : save(...counts)),
        };
        const untilSaved = Effect.fnUntraced(function* (counters: Counters["Service"]) {
          yield* counters.admit([day], 0);
          yield* TestClock.adjust("5 seconds");
          expect(yield* saved).toEqual([]);
          state.isDown = false;
          yield* TestClock.adjust("5 seconds");
          expect(yield* saved).toEqual([1]);
        });
        yield* Effect.provideService(process(untilSaved), DayCounts, DayCounts.of(failing));
      }),
    ));
});
