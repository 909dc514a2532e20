import { Effect } from "effect";
import { expectEqual, expectThat } from "../expect.ts";
import type { Cases } from "../suite.ts";
import { type Engine, makeKeys, type OtherHandle } from "./engine.ts";

/** What engines get wrong first, each as a case of its own. The random cases have all of it together. */
export const rangeCases: Cases<Engine | OtherHandle> = {
  "keys sort by character, capital letters before small ones": function* () {
    const { list, set } = yield* makeKeys;
    yield* set({ b: "", B: "", a: "", _: "", "10": "", "9": "", "a b": "", "a!": "" });
    expectEqual(yield* list(), ["10", "9", "B", "_", "a", "a b", "a!", "b"]);
  },

  "a range begins with the key that is its start": function* () {
    const { list, range, set } = yield* makeKeys;
    yield* set({ a: "", b: "", c: "" });
    expectEqual(yield* list(range("b", "d")), ["b", "c"]);
    expectEqual(yield* list(range("b", "d"), 10, true), ["c", "b"]);
  },

  "a range ends before the key that is its end": function* () {
    const { list, range, set } = yield* makeKeys;
    yield* set({ a: "", b: "", c: "" });
    expectEqual(yield* list(range("a", "c")), ["a", "b"]);
    expectEqual(yield* list(range("a", "c"), 10, true), ["b", "a"]);
  },

  "a range without keys, or with an end before its start, is empty": function* () {
    const { kv, list, range, set } = yield* makeKeys;
    yield* set({ a: "", c: "" });
    for (const empty of [range("b", "c"), range("a", "a"), range("c", "a")]) {
      expectEqual([yield* list(empty), yield* kv.count(empty)], [[], 0]);
    }
  },

  "a limit takes the first keys of a range, or the last if it is reversed": function* () {
    const { key, kv, list, range, set } = yield* makeKeys;
    yield* set({ a: "", b: "", c: "", d: "" });
    expectEqual(yield* list(range("a", "d"), 2), ["a", "b"]);
    if (kv.keys !== undefined) expectEqual(yield* kv.keys(range("b", "d"), 2), [key("b"), key("c")]);
    expectEqual(yield* list(range("a", "d"), 2, true), ["c", "b"]);
    expectEqual(yield* list(range("a", "d"), 0), []);
  },

  "an engine that finds returns a guard, a range, and the entries that its values name": function* () {
    const { kv, key, range, set } = yield* makeKeys;
    if (kv.find === undefined) return;
    const [guard, first, second, third] = [key("a"), key("b"), key("c"), key("d")];
    yield* set({ a: "1", b: "of b", c: key("e"), d: key("absent"), e: "two words\nand a line" });
    for (const [reverse, keys, named] of [
      [false, [first, second], ["of b", key("e")]],
      [true, [third, second], [key("absent"), key("e")]],
    ] as const) {
      const found = yield* kv.find(guard, range("b", "e"), { limit: 2, reverse });
      const entries = yield* kv.get([guard, ...keys, ...named]);
      expectEqual([found.guard, ...found.entries, ...found.named], [...entries], "The entries");
    }
    const nothing = { guard: null, entries: [], named: [] };
    for (const absent of [null, key("absent")])
      expectEqual(yield* kv.find(absent, range("f", "g"), { limit: 2, reverse: false }), nothing);
  },

  "a count has the keys of its range alone": function* () {
    const { kv, range, set } = yield* makeKeys;
    yield* set({ a: "", b: "", c: "", d: "" });
    yield* set({ b: null });
    expectEqual([yield* kv.count(range("a", "d")), yield* kv.count(range("a", "d~"))], [2, 3]);
  },

  "a key that is set again, also to the same value, has another version": function* () {
    const { get, set } = yield* makeKeys;
    yield* set({ a: "1" });
    const first = yield* get("a");
    yield* set({ a: "1" });
    expectThat((yield* get("a"))?.version !== first?.version, "the version of the key changes");
  },

  "a version of a deleted key never returns": function* () {
    const { changes, get, key, kv, set } = yield* makeKeys;
    const versions = new Set<string | undefined>();
    const rounds = 3;
    for (let round = 0; round < rounds; round++) {
      yield* set({ a: "1" });
      versions.add((yield* get("a"))?.version);
      yield* set({ a: null });
    }
    expectEqual(versions.size, rounds, "The number of versions");
    yield* set({ a: "1" });
    for (const version of versions) {
      const checks = [{ key: key("a"), version: version ?? null }];
      expectEqual(yield* kv.commit(checks, changes({ a: "late" })), false, "A commit on an old version");
    }
  },

  "a commit whose check fails changes nothing": function* () {
    const { changes, get, key, kv, set } = yield* makeKeys;
    yield* set({ a: "1", b: "1" });
    const checks = [
      { key: key("a"), version: (yield* get("a"))?.version ?? null },
      { key: key("b"), version: null },
    ];
    expectEqual(yield* kv.commit(checks, changes({ a: "2", b: null, c: "2" })), false);
    const names = ["a", "b", "c"];
    const values = yield* Effect.forEach(names, (name) => Effect.map(get(name), (entry) => entry?.value));
    expectEqual(values, ["1", "1", undefined]);
  },
};
