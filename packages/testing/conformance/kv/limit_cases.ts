import { maxChanges, maxChecks, maxKeyLength, maxValueBytes, minChanges } from "@accountlink/kv";
import { Effect } from "effect";
import { hostileTexts } from "../../mod.ts";
import { expectEqual, expectThat } from "../expect.ts";
import type { Cases } from "../suite.ts";
import { type Engine, filled, makeKeys, numbered, type OtherHandle } from "./engine.ts";

export const limitCases: Cases<Engine | OtherHandle> = {
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
