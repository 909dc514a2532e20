/**
 * Answers kept for a short while, so that a burst of requests asks a platform once.
 */
import { Cache, type PlatformUnavailable } from "@accountlink/core";
import { Clock, Duration, Effect, Metric, Option, RcMap, Schema } from "effect";
import { platformCache } from "./metrics.ts";

/** A look-up whose answers are kept. `Key` is compared by its content. */
export interface CachedLookup<Key, A> {
  /** Names the entries and the metric, such as `chat.member`. */
  readonly answer: string;
  /** Tells the keys apart in the cache. */
  readonly entry: (key: Key) => string;
  readonly lookup: (key: Key) => Effect.Effect<A, PlatformUnavailable>;
  /** How the answer is written; an entry that does not fit is passed over. */
  readonly schema: Schema.Codec<A, Schema.Json>;
  /** How long this answer may be used, from the moment it was asked for. Zero does not keep it. */
  readonly freshFor: (answer: A) => Duration.Duration;
}

/**
 * Makes a look-up that keeps its answers in the cache. Callers that miss the same key at the same time share one
 * request, which goes on as long as one of them waits. A failure is never kept, and a cache that fails is passed by.
 */
export const cachedLookup = Effect.fnUntraced(function* <Key, A>(options: CachedLookup<Key, A>) {
  const cache = yield* Cache;
  const codec = Schema.fromJsonString(options.schema);
  const decode = Schema.decodeUnknownOption(codec);
  const encode = Schema.encodeSync(codec);
  const entryOf = (key: Key): string => `platform.${options.answer}:${options.entry(key)}`;
  const count = (result: "hit" | "miss" | "error") =>
    Metric.update(Metric.withAttributes(platformCache, { answer: options.answer, result }), 1);

  const read = Effect.fnUntraced(
    function* (key: Key) {
      const kept = yield* cache.get(entryOf(key), yield* Clock.currentTimeMillis);
      const answer = Option.flatMap(kept, decode);
      yield* count(Option.isSome(answer) ? "hit" : "miss");
      return answer;
    },
    Effect.catchTag("StoreUnavailable", () => Effect.as(count("error"), Option.none<A>())),
  );

  const askAndKeep = Effect.fnUntraced(function* (key: Key) {
    const askedAt = yield* Clock.currentTimeMillis;
    const answer = yield* options.lookup(key);
    const expiresAt = askedAt + Duration.toMillis(options.freshFor(answer));
    const now = yield* Clock.currentTimeMillis;
    if (expiresAt > now) {
      yield* Effect.ignore(cache.set(entryOf(key), encode(answer), expiresAt, now));
    }
    return answer;
  });

  const underway = yield* RcMap.make({ lookup: askAndKeep });

  return Effect.fnUntraced(function* (key: Key) {
    const kept = yield* read(key);
    return Option.isSome(kept) ? kept.value : yield* Effect.scoped(RcMap.get(underway, key));
  });
});
