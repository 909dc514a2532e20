/** A short-lived cache of platform lookups, so that a burst of requests asks a platform once. */
import { Cache, type PlatformUnavailable } from "@accountlink/core";
import { Cause, Clock, Duration, Effect, Exit, Metric, Option, RcMap, Schema } from "effect";
import { platformCache } from "../resilience/metrics.ts";

/** A lookup to cache. Keys are compared by value. */
export interface CachedLookup<Key extends string | ReadonlyArray<string>, A> {
  /** The prefix of cache keys and the label of the metric, such as `chat.member`. */
  readonly answer: string;
  readonly lookup: (key: Key) => Effect.Effect<A, PlatformUnavailable>;
  /** Encodes cached answers. Entries that cannot be decoded are ignored. */
  readonly schema: Schema.Codec<A, Schema.Json>;
  /** How long an answer may be used, counted from its request. Zero disables caching. */
  readonly freshFor: (answer: A, key: Key) => Duration.Duration;
}

const maxOwn = 10_000;

/**
 * Makes a cached lookup. Each process also keeps in memory the answers that it requested itself, so that it reads a
 * shared cache less often. Concurrent calls for a missing key share one request to the platform. The request is
 * interrupted when its last caller is interrupted. Failures are never cached. If the cache fails, the platform is
 * asked.
 *
 * `forget` removes an answer after a change. Other processes may use their own copies of the answer until the copies
 * expire.
 */
export const cachedLookup = Effect.fnUntraced(function* <Key extends string | ReadonlyArray<string>, A>(
  options: CachedLookup<Key, A>,
) {
  const cache = yield* Cache;
  const codec = Schema.fromJsonString(options.schema);
  const decode = Schema.decodeUnknownOption(codec);
  const encode = Schema.encodeSync(codec);
  const entryOf = (key: Key): string => `platform.${options.answer}:${[key].flat().join(":")}`;
  const countOf = (result: "hit" | "miss" | "error") =>
    Metric.update(platformCache({ answer: options.answer, result }), 1);
  const [hit, miss, failed] = [countOf("hit"), countOf("miss"), countOf("error")];
  const own = new Map<string, { readonly answer: A; readonly expiresAt: number }>();

  const keepOwn = (entry: string, answer: A, expiresAt: number) => {
    own.delete(entry);
    if (own.size >= maxOwn) own.delete(own.keys().next().value as string);
    own.set(entry, { answer, expiresAt });
  };

  const read = Effect.fnUntraced(function* (key: Key) {
    const [entry, now] = [entryOf(key), yield* Clock.currentTimeMillis];
    const known = own.get(entry);
    const answer =
      known !== undefined && now < known.expiresAt
        ? Option.some(known.answer)
        : Option.flatMap(yield* cache.get(entry, now), decode);
    yield* Option.isSome(answer) ? hit : miss;
    return answer;
  });

  const readOrNone = (key: Key) =>
    Effect.catchCause(read(key), (cause) =>
      Cause.hasFails(cause)
        ? Effect.as(failed, Option.none<A>())
        : Exit.failCause(cause as Cause.Cause<never>),
    );

  const askAndCache = Effect.fnUntraced(function* (key: Key) {
    const askedAt = yield* Clock.currentTimeMillis;
    const answer = yield* options.lookup(key);
    const expiresAt = askedAt + Duration.toMillis(options.freshFor(answer, key));
    const now = yield* Clock.currentTimeMillis;
    if (expiresAt > now) {
      keepOwn(entryOf(key), answer, expiresAt);
      yield* Effect.ignore(cache.set(entryOf(key), encode(answer), expiresAt, now));
    }
    return answer;
  });

  const inFlight = yield* RcMap.make({ lookup: askAndCache });

  const find = Effect.fnUntraced(function* (key: Key) {
    const cached = yield* readOrNone(key);
    return Option.isSome(cached) ? cached.value : yield* Effect.scoped(RcMap.get(inFlight, key));
  });

  const forget = Effect.fnUntraced(function* (key: Key) {
    const now = yield* Clock.currentTimeMillis;
    own.delete(entryOf(key));
    // The cache has no delete operation. Replace the entry with an empty text, which readers ignore, since they cannot
    // decode it.
    yield* Effect.ignore(cache.set(entryOf(key), "", now + 1, now));
  });

  return Object.assign(find, { forget });
});
