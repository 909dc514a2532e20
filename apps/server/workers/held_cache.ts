/**
 * Limits and short-lived values of all workers, in the memory of the primary process.
 */
import { CacheMemory } from "@accountlink/cache-memory";
import { Cache, Counters } from "@accountlink/core";
import { Effect, Layer, Option } from "effect";
import {
  type CacheAnswer,
  type CacheCall,
  decodeRule,
  encodeAdmission,
  encodeStates,
} from "./cache_calls.ts";

/** Makes what answers the calls of workers. The calls of one message are carried out in their order. */
export const makeHeldCache = Effect.gen(function* () {
  const context = yield* Layer.build(CacheMemory.layer);
  const [counters, cache] = yield* Effect.all([Counters, Cache]).pipe(Effect.provideContext(context));

  const answer = (call: CacheCall): Effect.Effect<CacheAnswer, unknown> => {
    switch (call[0]) {
      case "admit": {
        const [, rules, now, times] = call;
        const admit = counters.admit(rules.map(decodeRule), now);
        return Effect.map(Effect.replicateEffect(admit, times), (admissions) =>
          admissions.map(encodeAdmission),
        );
      }
      case "read": {
        const [, rules, now] = call;
        return Effect.map(counters.read(rules.map(decodeRule), now), encodeStates);
      }
      case "get": {
        const [, key, now] = call;
        return Effect.map(cache.get(key, now), Option.getOrNull);
      }
      case "set": {
        const [, key, value, expiresAt, now] = call;
        return Effect.as(cache.set(key, value, expiresAt, now), null);
      }
    }
  };
  return (calls: ReadonlyArray<CacheCall>): ReadonlyArray<CacheAnswer> =>
    Effect.runSync(Effect.orDie(Effect.forEach(calls, answer)));
});
