import { maxChecks } from "@accountlink/kv";
import { expectEqual, expectThat } from "../expect.ts";
import type { Cases } from "../suite.ts";
import { type Engine, filled, makeKeys, numbered } from "./engine.ts";

export const commitCases: Cases<Engine> = {
  "a commit sets and deletes several keys, absent ones too": function* () {
    const { all, get, kv, set } = yield* makeKeys;
    yield* set({ a: "1", b: "2" });
    yield* set({ a: "3", b: null, c: "4" });
    const listed = yield* kv.list(all, { limit: 10, reverse: false });
    expectEqual(
      listed.map(({ value }) => value),
      ["3", "4"],
    );
    yield* set({ absent: null, b: "1" });
    expectEqual([yield* get("absent"), (yield* get("b"))?.value], [null, "1"]);
  },

  "each commit that sets a key gives it another version, with the same value too, and no other commit":
    function* () {
      const { get, set } = yield* makeKeys;
      yield* set({ a: "1" });
      const first = yield* get("a");
      yield* set({ b: "2" });
      expectEqual((yield* get("a"))?.version, first?.version);
      const versions = new Set<string | undefined>();
      for (const value of ["1", "1", "2", "1"]) {
        yield* set({ a: value });
        versions.add((yield* get("a"))?.version);
      }
      expectEqual(versions.size, 4);
    },

  "a check of a version fails for a deleted key, and after it is set again": function* () {
    const { changes, get, key, kv, set } = yield* makeKeys;
    yield* set({ a: "1" });
    const version = (yield* get("a"))?.version ?? null;
    yield* set({ a: null });
    expectEqual(yield* kv.commit([{ key: key("a"), version }], changes({ a: "2" })), false);
    expectEqual(yield* get("a"), null);
    yield* set({ a: "1" });
    expectThat(
      (yield* get("a"))?.version !== version,
      "the version differs from the one before the deletion",
    );
    expectEqual(yield* kv.commit([{ key: key("a"), version }], []), false);
  },

  "a check of a version from get or list holds until the key is set": function* () {
    const { all, changes, get, key, kv, set } = yield* makeKeys;
    yield* set({ a: "1" });
    const checks = [{ key: key("a"), version: (yield* get("a"))?.version ?? null }];
    expectEqual(yield* kv.commit(checks, changes({ a: "2" })), true);
    expectEqual(yield* kv.commit(checks, changes({ a: "3" })), false);
    expectEqual((yield* get("a"))?.value, "2");
    const listed = yield* kv.list(all, { limit: 1, reverse: false });
    expectEqual(yield* kv.commit(listed, changes({ a: "4" })), true);
    expectEqual(yield* kv.commit(listed, changes({ a: "5" })), false);
  },

  "a check of an absent key holds until the key is set, and after it is deleted": function* () {
    const { changes, get, key, kv, set } = yield* makeKeys;
    const checks = [{ key: key("a"), version: null }];
    expectEqual(yield* kv.commit(checks, changes({ a: "1" })), true);
    expectEqual(yield* kv.commit(checks, changes({ a: "2" })), false);
    expectEqual((yield* get("a"))?.value, "1");
    yield* set({ a: "" });
    expectEqual(yield* kv.commit(checks, changes({ a: "2" })), false);
    yield* set({ a: null });
    expectEqual(yield* kv.commit(checks, changes({ a: "3" })), true);
  },

  "a commit changes other keys than it checks": function* () {
    const { changes, get, key, kv, set } = yield* makeKeys;
    yield* set({ a: "1" });
    const checks = [
      { key: key("a"), version: (yield* get("a"))?.version ?? null },
      { key: key("absent"), version: null },
    ];
    expectEqual(yield* kv.commit(checks, changes({ b: "2" })), true);
    expectEqual(yield* kv.commit(checks, changes({ b: "3" })), true);
    expectEqual([(yield* get("a"))?.value, (yield* get("b"))?.value], ["1", "3"]);
  },

  "checks are about the keys before the changes of their commit": function* () {
    const { changes, get, key, kv } = yield* makeKeys;
    const checks = ["a", "b"].map((name) => ({ key: key(name), version: null }));
    expectEqual(yield* kv.commit(checks, changes({ a: "1", b: "2" })), true);
    expectEqual((yield* get("b"))?.value, "2");
  },

  "a commit without changes tells whether its checks hold": function* () {
    const { get, key, kv, set } = yield* makeKeys;
    expectEqual(yield* kv.commit([], []), true);
    yield* set({ a: "1" });
    const held = { key: key("a"), version: (yield* get("a"))?.version ?? null };
    expectEqual(yield* kv.commit([held], []), true);
    expectEqual(yield* kv.commit([{ key: key("a"), version: null }], []), false);
    expectEqual((yield* get("a"))?.version ?? null, held.version);
  },

  "no change of a commit is made if its last check fails": function* () {
    const { changes, get, key, kv, list, set } = yield* makeKeys;
    yield* set({ deleted: "1", kept: "1" });
    const absent = numbered(maxChecks - 1).map((name) => ({ key: key(name), version: null }));
    const checks = [...absent, { key: key("kept"), version: null }];
    expectEqual(yield* kv.commit(checks, changes({ deleted: null, kept: "2", new: "2" })), false);
    expectEqual(yield* list(), ["deleted", "kept"]);
    expectEqual((yield* get("kept"))?.value, "1");
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
    expectEqual(yield* kv.commit(checks, changes(filled(names, "3"))), false);
    expectEqual([yield* kv.count(all), (yield* get(names.at(-1) ?? ""))?.value], [most, "2"]);
    yield* set(Object.fromEntries(names.map((name) => [name, null])));
    expectEqual(yield* kv.count(all), 0);
  },
};
