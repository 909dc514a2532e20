/**
 * A short-lived cache of platform lookups, so that a burst of requests asks a platform once.
 */
import { Cache, type PlatformUnavailable } from "@accountlink/core";
import { Clock, Duration, Effect, Metric, Option, RcMap, Schema } from "effect";
import { platformCache } from "../resilience/metrics.ts";

/** A lookup to cache. Keys are compared by value. */
export interface CachedLookup<Key, A> {
  /** The prefix of cache keys and the label of the metric, such as `chat.member`. */
  readonly answer: string;
  /** The part of the cache key that identifies `key`. */
  readonly entry: (key: Key) => string;
  readonly lookup: (key: Key) => Effect.Effect<A, PlatformUnavailable>;
  /** The encoding of cached answers. Entries that cannot be decoded are ignored. */
  readonly schema: Schema.Codec<A, Schema.Json>;
  /** How long an answer may be used, counted from the request for it. Zero disables caching. */
  readonly freshFor: (answer: A) => Duration.Duration;
}

/**
 * Makes a cached lookup. Concurrent misses of a key share one request, which is interrupted when
 * the last caller is. Failures are never cached. When the cache fails, the platform is asked.
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
      const cached = yield* cache.get(entryOf(key), yield* Clock.currentTimeMillis);
      const answer = Option.flatMap(cached, decode);
      yield* count(Option.isSome(answer) ? "hit" : "miss");
      return answer;
    },
    Effect.catchTag("StoreUnavailable", () => Effect.as(count("error"), Option.none<A>())),
  );

  const askAndCache = Effect.fnUntraced(function* (key: Key) {
    const askedAt = yield* Clock.currentTimeMillis;
    const answer = yield* options.lookup(key);
    const expiresAt = askedAt + Duration.toMillis(options.freshFor(answer));
    const now = yield* Clock.currentTimeMillis;
    if (expiresAt > now) {
      yield* Effect.ignore(cache.set(entryOf(key), encode(answer), expiresAt, now));
    }
    return answer;
  });

  const inFlight = yield* RcMap.make({ lookup: askAndCache });

  return Effect.fnUntraced(function* (key: Key) {
    const cached = yield* read(key);
    return Option.isSome(cached) ? cached.value : yield* Effect.scoped(RcMap.get(inFlight, key));
  });
});
