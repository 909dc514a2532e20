/**
 * Limits and short-lived values of all workers, in the memory of the primary process.
 */
import { CacheMemory } from "@accountlink/cache-memory";
import { Cache, Counters } from "@accountlink/core";
import type { CounterRule } from "@accountlink/core/limits";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Layer, Option } from "effect";
import type { CacheAnswer, CacheCall } from "./cache_calls.ts";

/** Makes what answers the calls of workers. The calls of one message are carried out in their order. */
export const makeHeldCache = Effect.gen(function* () {
  const context = yield* Layer.build(CacheMemory.layer);
  const [counters, cache] = yield* Effect.all([Counters, Cache]).pipe(Effect.provideContext(context));

  const admit = Effect.fnUntraced(function* (rules: ReadonlyArray<CounterRule>, now: Millis, times: number) {
    for (let admitted = 0; ; ) {
      const admission = yield* counters.admit(rules, now);
      if (admission.admitted) admitted++;
      // After a refusal, all others are refused as well.
      if (!admission.admitted || admitted === times) return { ...admission, admitted };
    }
  });

  const answer = (call: CacheCall): Effect.Effect<CacheAnswer, unknown> => {
    switch (call[0]) {
      case "admit":
        return admit(call[1], call[2], call[3]);
      case "read":
        return counters.read(call[1], call[2]);
      case "get":
        return Effect.map(cache.get(call[1], call[2]), Option.getOrNull);
      case "set":
        return Effect.as(cache.set(call[1], call[2], call[3], call[4]), null);
    }
  };
  return (calls: ReadonlyArray<CacheCall>): ReadonlyArray<CacheAnswer> =>
    Effect.runSync(Effect.orDie(Effect.forEach(calls, answer)));
});
