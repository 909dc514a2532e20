/** A short-lived cache of platform lookups, so that a burst of requests asks a platform once. */
import { Cache, type PlatformUnavailable, type StoreUnavailable } from "@accountlink/core";
import { ChargedAccount, type ReadCached, Urgency } from "@accountlink/core/platforms";
import { TurnAccount } from "@accountlink/core/turns";
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
 * shared cache less often. Concurrent calls of one account for a missing key share one request to the platform. The
 * request is interrupted when its last caller is interrupted. Failures are never cached. If the cache fails, the platform
 * is asked.
 *
 * `readCached` reads the answers for many keys at once. `forget` removes an answer after a change. Other processes may
 * use their own copies of the answer until the copies expire.
 */
export const cachedLookup = Effect.fnUntraced(function* <Key extends string | ReadonlyArray<string>, A>(
  options: CachedLookup<Key, A>,
) {
  const cache = yield* Cache;
  const codec = Schema.fromJsonString(options.schema);
  const decode = Schema.decodeUnknownOption(codec);
  const encode = Schema.encodeSync(codec);
  const entryOf = (key: Key): string => `platform.${options.answer}:${[key].flat().join(":")}`;
  const countOf = (result: "hit" | "miss" | "error", count = 1) =>
    Metric.update(platformCache({ answer: options.answer, result }), count);
  const [hit, miss, failed] = [countOf("hit"), countOf("miss"), countOf("error")];
  const own = new Map<string, { readonly answer: A; readonly expiresAt: number }>();

  const keepOwn = (entry: string, answer: A, expiresAt: number) => {
    own.delete(entry);
    if (own.size >= maxOwn) own.delete(own.keys().next().value as string);
    own.set(entry, { answer, expiresAt });
  };

  const readOwn = (entry: string, now: number): Option.Option<A> => {
    const known = own.get(entry);
    return known !== undefined && now < known.expiresAt ? Option.some(known.answer) : Option.none();
  };

  const read = Effect.fnUntraced(function* (key: Key) {
    const [entry, now] = [entryOf(key), yield* Clock.currentTimeMillis];
    const known = readOwn(entry, now);
    const answer = Option.isSome(known) ? known : Option.flatMap(yield* cache.get(entry, now), decode);
    yield* Option.isSome(answer) ? hit : miss;
    return answer;
  });

  const orElseNone = <B>(reading: Effect.Effect<B, StoreUnavailable>, none: B) =>
    Effect.catchCause(reading, (cause) =>
      Cause.hasFails(cause) ? Effect.as(failed, none) : Exit.failCause(cause as Cause.Cause<never>),
    );

  const readMany = Effect.fnUntraced(function* (keys: ReadonlyArray<Key>) {
    const now = yield* Clock.currentTimeMillis;
    const entries = keys.map(entryOf);
    const answers = new Map(entries.map((entry) => [entry, readOwn(entry, now)]));
    const others = entries.filter((entry) => Option.isNone(answers.get(entry) as Option.Option<A>));
    const found = others.length === 0 ? [] : yield* cache.getMany(others, now);
    for (const [index, entry] of others.entries()) {
      answers.set(entry, Option.flatMap(found[index] ?? Option.none(), decode));
    }
    const all = entries.map((entry) => answers.get(entry) as Option.Option<A>);
    const hits = all.filter(Option.isSome).length;
    yield* countOf("hit", hits);
    yield* countOf("miss", all.length - hits);
    return all;
  });

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

  const inFlight = yield* RcMap.make({
    lookup: ([key]: readonly [key: Key, ...asker: ReadonlyArray<string | boolean>]) => askAndCache(key),
  });

  /** Shares a request with equal askers only, since the asker decides whether and when the platform is asked. */
  const ask = Effect.fnUntraced(function* (key: Key) {
    const isCharged = (yield* ChargedAccount) !== null;
    const asked = [key, yield* TurnAccount, isCharged, yield* Urgency] as const;
    return yield* Effect.scoped(RcMap.get(inFlight, asked));
  });

  const find = Effect.fnUntraced(function* (key: Key) {
    const cached = yield* orElseNone(read(key), Option.none());
    return Option.isSome(cached) ? cached.value : yield* ask(key);
  });

  /** Reads the cached answers for many keys at once; `ask` reads no cache. */
  const readCached =
    <Id>(keyOf: (id: Id) => Key): ReadCached<Id, A> =>
    (ids) =>
      Effect.map(orElseNone(readMany(ids.map(keyOf)), []), (found) => ({
        cached: new Map(
          ids.flatMap((id, index) => {
            const answer = found[index] ?? Option.none();
            return Option.isSome(answer) ? [[id, answer.value] as const] : [];
          }),
        ),
        ask: (id) => ask(keyOf(id)),
      }));

  const forget = Effect.fnUntraced(function* (key: Key) {
    const now = yield* Clock.currentTimeMillis;
    own.delete(entryOf(key));
    // The cache has no delete operation. Replace the entry with an empty text, which readers ignore, since they cannot
    // decode it.
    yield* Effect.ignore(cache.set(entryOf(key), "", now + 1, now));
  });

  return Object.assign(find, { forget, readCached });
});
