import { type Kv, maxChanges, maxChecks, maxKeyLength, maxValueBytes, minChanges } from "@accountlink/kv";
import { Effect, Layer, type Scope } from "effect";
import { hostileTexts } from "../../mod.ts";
import { expectEqual, expectThat } from "../expect.ts";
import { type Cases, type SuiteOptions, suite } from "../suite.ts";
import { Engine, filled, makeKeys, numbered, OtherHandle } from "./engine.ts";
import { raceCases } from "./race_cases.ts";
import { randomCases } from "./random_cases.ts";
import { rangeCases } from "./range_cases.ts";

export interface KvSuiteOptions extends Omit<SuiteOptions<never>, "layer"> {
  /** Opens the engine, which need not be empty. */
  readonly engine: Effect.Effect<Kv, unknown, Scope.Scope>;
  /**
   * Opens the same store a second time, as another process does. Without it, the suite cannot tell a lock of the process
   * from one of the store.
   */
  readonly other?: Effect.Effect<Kv, unknown, Scope.Scope> | undefined;
}

/**
 * Tests an engine for the stores of `@accountlink/kv`: order, ranges, counts, versions, commits of all or nothing,
 * racing writers, and the limits of size and number. It cannot see a store that loses later what it has answered, by
 * expiry, eviction or a crash.
 */
export const kvSuite = ({ engine, other, ...options }: KvSuiteOptions): void =>
  suite(
    "Kv",
    { ...options, layer: handles(Layer.effect(Engine, engine), other) },
    { ...rangeCases, ...randomCases, ...limitCases, ...raceCases },
  );

/** Both handles of a suite, the second opened after the first. @internal */
export const handles = <E>(engine: Layer.Layer<Engine, E>, other?: KvSuiteOptions["other"]) => {
  const second: Effect.Effect<Kv, unknown, Scope.Scope | Engine> = other ?? Effect.map(Engine, (kv) => kv);
  return Layer.effect(OtherHandle, second).pipe(Layer.provideMerge(engine));
};

const limitCases: Cases<Engine | OtherHandle> = {
  "get reads none or a thousand keys": function* () {
    const { kv, key, set } = yield* makeKeys;
    expectEqual(yield* kv.get([]), []);
    const names = numbered(maxChanges);
    yield* set(Object.fromEntries(names.map((name) => [name, name])));
    const found = yield* kv.get(names.map(key));
    expectEqual<ReadonlyArray<string | null>>(
      found.map((entry) => entry?.value ?? null),
      names,
    );
  },

  "keys hold every printable character, which is no pattern": function* () {
    const { get, list, range, set } = yield* makeKeys;
    const characters = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index));
    yield* set(Object.fromEntries(characters.map((character) => [`x${character}`, character])));
    for (const character of characters) expectEqual((yield* get(`x${character}`))?.value, character);
    expectEqual(yield* list(range("x*", "x+")), ["x*"]);
  },

  "keys have up to the most characters": function* () {
    const { all, key, list, set } = yield* makeKeys;
    const longest = (last: string) => `${"x".repeat(maxKeyLength - key("").length - 1)}${last}`;
    yield* set({ [longest("b")]: "1", [longest("a")]: "2" });
    expectEqual(yield* list(all), [longest("a"), longest("b")]);
  },

  "values keep every Unicode text": function* () {
    const { get, set } = yield* makeKeys;
    for (const text of hostileTexts) {
      yield* set({ a: text });
      expectEqual((yield* get("a"))?.value, text);
    }
  },

  "values have up to the most bytes, in characters of one to four": function* () {
    const { all, get, kv, set } = yield* makeKeys;
    for (const character of ["a", "é", "€", "👩"]) {
      const value = character.repeat(maxValueBytes / new TextEncoder().encode(character).length);
      yield* set({ a: value });
      expectThat((yield* get("a"))?.value === value, `get returns ${value.length} times "${character}"`);
      const [listed] = yield* kv.list(all, { limit: 1, reverse: false });
      expectThat(listed?.value === value, `list returns ${value.length} times "${character}"`);
    }
  },

  "pages of a long range have each key once, in both directions": function* () {
    const { all, kv, list, set } = yield* makeKeys;
    const names = numbered(2_500);
    for (const from of [2_000, 0, 1_000]) yield* set(filled(names.slice(from, from + 1_000), "x"));
    for (const reverse of [false, true]) {
      const found: Array<string> = [];
      let rest = all;
      for (;;) {
        const page = yield* kv.list(rest, { limit: 700, reverse });
        found.push(...page.map(({ key }) => key.slice(all.start.length)));
        const last = page.at(-1);
        if (last === undefined) break;
        rest = reverse ? { ...rest, end: last.key } : { ...rest, start: `${last.key}!` };
      }
      expectEqual<ReadonlyArray<string>>(found, reverse ? names.toReversed() : names);
    }
    expectEqual([yield* kv.count(all), (yield* list(all, 2_500)).length], [2_500, 2_500]);
  },

  "a commit has room for the changes of a step": function* () {
    const { most } = yield* makeKeys;
    expectThat(most >= minChanges, `maxChanges, which is ${most}, is ${minChanges} or more`);
  },

  "what was set is there a second later": function* () {
    const { get, set } = yield* makeKeys;
    yield* set({ a: "1" });
    yield* Effect.sleep("1 second");
    expectEqual((yield* get("a"))?.value, "1");
  },

  "a commit has up to the most checks and changes": function* () {
    const { all, changes, get, key, kv, most, set } = yield* makeKeys;
    const names = numbered(most);
    yield* set(filled(names, "1"));
    const entries = yield* kv.get(names.slice(0, maxChecks).map(key));
    const checks = entries.map((entry, index) => ({
      key: key(names[index] ?? ""),
      version: entry?.version ?? null,
    }));
    expectEqual(yield* kv.commit(checks, changes(filled(names, "2"))), true);
    const lastFails = [...checks.slice(1), { key: key(names[0] ?? ""), version: null }];
    for (const failing of [checks, lastFails])
      expectEqual(yield* kv.commit(failing, changes(filled(names, "3"))), false);
    expectEqual([yield* kv.count(all), (yield* get(names.at(-1) ?? ""))?.value], [most, "2"]);
    yield* set(Object.fromEntries(names.map((name) => [name, null])));
    expectEqual(yield* kv.count(all), 0);
  },
};
