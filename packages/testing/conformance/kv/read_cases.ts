import { maxChanges, maxKeyLength, maxValueBytes } from "@accountlink/kv";
import { Effect } from "effect";
import { hostileTexts } from "../../mod.ts";
import { expectEqual, expectThat, pluck } from "../expect.ts";
import type { Cases } from "../suite.ts";
import { type Engine, filled, makeKeys, numbered } from "./engine.ts";

/** In the order of their characters. */
const ordered = [
  "",
  " ",
  "!",
  "*",
  "-1",
  "0",
  "0 0",
  "00",
  "1",
  "10",
  "2",
  "A",
  "B",
  "_",
  "a",
  "a b",
  "a!",
  "ab",
  "b",
  "~",
];

export const readCases: Cases<Engine> = {
  "get answers in the order of the keys, with null for absent ones": function* () {
    const { kv, key, set } = yield* makeKeys;
    yield* set({ a: "1", b: "2" });
    const found = yield* kv.get([key("b"), key("c"), key("a"), key("b")]);
    expectEqual(
      found.map((entry) => entry?.value ?? null),
      ["2", null, "1", "2"],
    );
    expectEqual(
      found.map((entry) => entry?.key ?? null),
      [key("b"), null, key("a"), key("b")],
    );
  },

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

  "keys differ by case, and by a space at the end": function* () {
    const { get, set } = yield* makeKeys;
    yield* set({ a: "lower", A: "upper", "a ": "space" });
    expectEqual(
      [(yield* get("a"))?.value, (yield* get("A"))?.value, (yield* get("a "))?.value],
      ["lower", "upper", "space"],
    );
    expectEqual(yield* get("A "), null);
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

  "an empty value is not absent": function* () {
    const { all, get, kv, list, set } = yield* makeKeys;
    yield* set({ a: "" });
    expectEqual((yield* get("a"))?.value, "");
    expectEqual([yield* list(), yield* kv.count(all)], [["a"], 1]);
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

  "list sorts keys by character, and begins with the last one in reverse": function* () {
    const { list, all, set } = yield* makeKeys;
    yield* set(filled(ordered.toReversed(), "x"));
    expectEqual(yield* list(), ordered);
    expectEqual(yield* list(all, 1_000, true), ordered.toReversed());
  },

  "a range has its start, and not its end": function* () {
    const { all, list, range, set } = yield* makeKeys;
    yield* set(filled(["a", "b", "c", "d"], "x"));
    expectEqual(yield* list(range("b", "d")), ["b", "c"]);
    expectEqual(yield* list(range("b", "d"), 1_000, true), ["c", "b"]);
    expectEqual(yield* list({ ...all, start: range("d", "d").start }), ["d"]);
  },

  "a range begins and ends where no key is, and is empty if its start is not before its end": function* () {
    const { kv, list, range, set } = yield* makeKeys;
    yield* set(filled(["b", "d", "f"], "x"));
    for (const [start, end, names] of [
      ["a", "c", ["b"]],
      ["c", "g", ["d", "f"]],
      ["c", "c ", []],
      ["g", "z", []],
      ["d", "d", []],
      ["f", "b", []],
    ] as const) {
      const wanted = range(start, end);
      expectEqual<ReadonlyArray<string>>(yield* list(wanted), names);
      expectEqual<ReadonlyArray<string>>(yield* list(wanted, 10, true), names.toReversed());
      expectEqual(yield* kv.count(wanted), names.length);
    }
  },

  "a range of a prefix has no key of another prefix": function* () {
    const { kv, list, range, set } = yield* makeKeys;
    yield* set(filled(["a", "a 1", "a 2", "a! 3", "aa 4", "b 5"], "x"));
    expectEqual(yield* list(range("a ", "a!")), ["a 1", "a 2"]);
    expectEqual(yield* kv.count(range("a ", "a!")), 2);
  },

  "list returns no more than its limit, from the side where it begins": function* () {
    const { all, list, set } = yield* makeKeys;
    yield* set(filled(["a", "b", "c"], "x"));
    expectEqual(
      [yield* list(all, 2), yield* list(all, 2, true)],
      [
        ["a", "b"],
        ["c", "b"],
      ],
    );
    expectEqual(
      [yield* list(all, 3), yield* list(all, 4, true)],
      [
        ["a", "b", "c"],
        ["c", "b", "a"],
      ],
    );
    expectEqual([yield* list(all, 0), yield* list(all, 0, true)], [[], []]);
  },

  "list returns the entries that get returns": function* () {
    const { all, key, kv, set } = yield* makeKeys;
    yield* set({ a: "1", b: "2" });
    yield* set({ b: "3", c: "4" });
    const listed = yield* kv.list(all, { limit: 10, reverse: false });
    const got = yield* kv.get(["a", "b", "c"].map(key));
    for (const field of ["key", "value", "version"] as const) {
      expectEqual(
        pluck(listed, field),
        got.map((entry) => entry?.[field] ?? ""),
        field,
      );
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

  "count counts a range": function* () {
    const { all, kv, range, set } = yield* makeKeys;
    expectEqual(yield* kv.count(all), 0);
    yield* set(filled(numbered(20), "x"));
    expectEqual([yield* kv.count(all), yield* kv.count(range("00005", "00015"))], [20, 10]);
  },

  "a key that is set again stays one key, and a deleted one is in no answer until it is set again":
    function* () {
      const { all, get, kv, list, set } = yield* makeKeys;
      for (const value of ["1", "2", "x"]) yield* set(filled(["a", "b", "c"], value));
      expectEqual([yield* list(), yield* kv.count(all)], [["a", "b", "c"], 3]);
      yield* set({ b: null });
      expectEqual([yield* get("b"), yield* list(), yield* kv.count(all)], [null, ["a", "c"], 2]);
      yield* set({ b: "again" });
      expectEqual([(yield* get("b"))?.value, yield* list()], ["again", ["a", "b", "c"]]);
    },

  "get reads its keys as of one moment": function* () {
    const { key, kv, set } = yield* makeKeys;
    const names = numbered(40);
    yield* set(filled(names, "0"));
    const write = Effect.forEach(numbered(30), (value) => set(filled(names, value)));
    const read = Effect.forEach(numbered(60), () =>
      Effect.map(kv.get(names.map(key)), (entries) =>
        expectEqual(new Set(entries.map((entry) => entry?.value)).size, 1, "The number of values"),
      ),
    );
    yield* Effect.all([write, read], { concurrency: "unbounded", discard: true });
  },
};
