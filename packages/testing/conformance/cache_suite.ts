import { Cache } from "@accountlink/core";
import { Clock, Effect, Option } from "effect";
import { hostileTexts, uniqueText } from "../mod.ts";
import { expectEqual } from "./expect.ts";
import { atOnce } from "./scopes.ts";
import { type Cases, type SuiteOptions, suite } from "./suite.ts";

const minute = 60_000;

/** A cache may lose entries at any time, but the suite expects it to keep recent ones. */
const cases: Cases<Cache> = {
  "an entry expires exactly at its deadline": function* () {
    const cache = yield* Cache;
    const now = yield* Clock.currentTimeMillis;
    const key = uniqueText();
    yield* cache.set(key, "value", now + minute, now);
    expectEqual(yield* cache.get(key, now + minute - 1), Option.some("value"));
    expectEqual(yield* cache.get(key, now + minute), Option.none());
    expectEqual(yield* cache.get(key, now + 2 * minute), Option.none());
  },

  "set with a past deadline removes the entry": function* () {
    const cache = yield* Cache;
    const now = yield* Clock.currentTimeMillis;
    const key = uniqueText();
    yield* cache.set(key, "old", now + minute, now);
    yield* cache.set(key, "new", now - minute, now);
    expectEqual(yield* cache.get(key, now), Option.none());
  },

  "set overwrites value and deadline, also with an earlier one": function* () {
    const cache = yield* Cache;
    const now = yield* Clock.currentTimeMillis;
    const key = uniqueText();
    yield* cache.set(key, "first", now + 2 * minute, now);
    yield* cache.set(key, "second", now + minute, now);
    expectEqual(yield* cache.get(key, now), Option.some("second"));
    expectEqual(yield* cache.get(key, now + minute), Option.none());
    yield* cache.set(key, "third", now + 3 * minute, now);
    expectEqual(yield* cache.get(key, now + minute), Option.some("third"));
  },

  "keys and values keep every Unicode text distinct": function* () {
    const cache = yield* Cache;
    const now = yield* Clock.currentTimeMillis;
    const prefix = uniqueText();
    yield* Effect.forEach(hostileTexts, (text) => cache.set(`${prefix}${text}`, text, now + minute, now));
    for (const text of hostileTexts) {
      expectEqual(yield* cache.get(`${prefix}${text}`, now), Option.some(text));
    }
  },

  "getMany returns what get returns, in the order of the keys": function* () {
    const { getMany, set } = yield* Cache;
    const now = yield* Clock.currentTimeMillis;
    const [first, second, absent] = [uniqueText(), uniqueText(), uniqueText()];
    yield* set(first, "1", now + minute, now);
    yield* set(second, "", now + 2 * minute, now);
    const found = [Option.some(""), Option.none(), Option.some("1"), Option.some("")];
    expectEqual(yield* getMany([second, absent, first, second], now), found);
    expectEqual(yield* getMany([first, second], now + minute), [Option.none(), Option.some("")]);
    expectEqual(yield* getMany([], now), []);
  },

  "concurrent sets: one of the values remains": function* () {
    const cache = yield* Cache;
    const now = yield* Clock.currentTimeMillis;
    const key = uniqueText();
    const values = Array.from({ length: 20 }, (_, i) => `${i}`);
    yield* Effect.forEach(values, (value) => cache.set(key, value, now + minute, now), atOnce);
    const stayed = yield* cache.get(key, now);
    expectEqual(
      Option.filter(stayed, (value) => values.includes(value)),
      stayed,
    );
    expectEqual(Option.isSome(stayed), true);
  },
};

/**
 * Tests a `Cache`: deadlines, overwritten entries, Unicode texts and concurrent writes. The example tests a cache on a
 * client, here a `Map` behind promises, and its outages too.
 *
 * @example
 * ```ts
 * import { Cache, StoreUnavailable } from "@accountlink/core";
 * import { Effect, Layer, Option } from "effect";
 *
 * const entries = new Map<string, string>();
 * let isCut = false;
 * const reach = async () => {
 *   if (isCut) throw new Error("Out of reach");
 *   return entries;
 * };
 * const client = {
 *   get: async (key: string) => (await reach()).get(key),
 *   set: async (key: string, text: string) => void (await reach()).set(key, text),
 * };
 *
 * const call = <A,>(operation: string, run: () => Promise<A>) =>
 *   Effect.tryPromise({ try: run, catch: (cause) => new StoreUnavailable({ operation, cause }) });
 *
 * const valueAt = (text: string | undefined, now: number): Option.Option<string> => {
 *   const [, deadline, value] = /^(\S+) ([^]*)$/.exec(text ?? "") ?? [];
 *   return value !== undefined && now < Number(deadline) ? Option.some(value) : Option.none();
 * };
 *
 * const layer = Layer.succeed(Cache, {
 *   get: (key, now) => Effect.map(call("Cache.get", () => client.get(key)), (text) => valueAt(text, now)),
 *   getMany: (keys, now) =>
 *     Effect.map(call("Cache.getMany", () => Promise.all(keys.map(client.get))), (texts) =>
 *       texts.map((text) => valueAt(text, now)),
 *     ),
 *   set: (key, value, expiresAt) => call("Cache.set", () => client.set(key, `${expiresAt} ${value}`)),
 * });
 *
 * const cut = (value: boolean) => Effect.sync(() => void (isCut = value));
 * const outages = Layer.merge(layer, Layer.succeed(Connection, { break: cut(true), restore: cut(false) }));
 *
 * const failed: Array<string> = [];
 * const suites = runSuites((test) => {
 *   cacheSuite({ name: "Mine", layer, test });
 *   cacheOutageSuite({ name: "Mine", layer: outages, test });
 * });
 * for await (const { title, failure } of suites) if (failure !== null) failed.push(title);
 * failed; // []
 * ```
 */
export const cacheSuite = (options: SuiteOptions<Cache>): void => suite("Cache", options, cases);
