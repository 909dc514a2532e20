import type { Kv } from "@accountlink/kv";
import { Effect } from "effect";
import { expectEqual } from "../expect.ts";
import { atOnce } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { type Engine, filled, makeKeys, numbered, type OtherHandle } from "./engine.ts";

const writers = numbered(20);

/** Tries a transaction until its checks hold. */
const retried = <E>(attempt: Effect.Effect<boolean, E>) =>
  Effect.repeat(attempt, { until: (isDone) => isDone });

/** Lets others begin before each step: an engine that does a step at once would do all of them before. */
const inTurns = <E>(times: number, step: (value: string) => Effect.Effect<unknown, E>) =>
  Effect.forEach(numbered(times), (value) => Effect.andThen(Effect.yieldNow, step(value)));

/** Every second writer deletes. */
const valueOf = (index: number) => (index % 2 === 0 ? null : String(index));

export const raceCases: Cases<Engine | OtherHandle> = {
  "get reads its keys as of one moment": function* () {
    const { key, kv, most, of, set } = yield* makeKeys;
    // A commit of the most changes, which an engine could make in parts.
    const names = numbered(most);
    yield* set(filled(names, "0"));
    const write = inTurns(10, (value) => set(filled(names, value), of(1)));
    const read = inTurns(20, () =>
      Effect.map(kv.get(names.map(key)), (entries) =>
        expectEqual(new Set(entries.map((entry) => entry?.value)).size, 1, "The number of values"),
      ),
    );
    yield* Effect.all([write, read], { concurrency: "unbounded", discard: true });
  },

  "of racing writers that expect an absent key, one succeeds": function* () {
    const { changes, get, key, of } = yield* makeKeys;
    const checks = [{ key: key("a"), version: null }];
    const done = yield* Effect.forEach(
      writers,
      (name, index) => of(index).commit(checks, changes({ a: name })),
      atOnce,
    );
    expectEqual(done.filter(Boolean).length, 1);
    expectEqual((yield* get("a"))?.value, writers[done.indexOf(true)]);
  },

  "of racing writers that expect one version, one succeeds, deletions included": function* () {
    const { changes, get, key, of, set } = yield* makeKeys;
    yield* set({ a: "0" });
    const checks = [{ key: key("a"), version: (yield* get("a"))?.version ?? null }];
    const done = yield* Effect.forEach(
      writers,
      (_, index) => of(index).commit(checks, changes({ a: valueOf(index) })),
      atOnce,
    );
    expectEqual(done.filter(Boolean).length, 1);
    expectEqual((yield* get("a"))?.value ?? null, valueOf(done.indexOf(true)));
  },

  "no increment of racing writers is lost": function* () {
    const { changes, get, key, of } = yield* makeKeys;
    const increment = (kv: Kv) =>
      Effect.gen(function* () {
        const entry = yield* get("a", kv);
        const next = String(Number(entry?.value ?? 0) + 1);
        return yield* kv.commit([{ key: key("a"), version: entry?.version ?? null }], changes({ a: next }));
      });
    yield* Effect.forEach(writers, (_, index) => retried(increment(of(index))), atOnce);
    expectEqual((yield* get("a"))?.value, String(writers.length));
  },

  "of two transactions that each read what the other changes, one fails": function* () {
    const { changes, key, kv, of, set } = yield* makeKeys;
    yield* set({ a: "1", b: "1" });
    const checks = (yield* kv.get([key("a"), key("b")])).flatMap((entry) => entry ?? []);
    const done = yield* Effect.forEach(
      ["a", "b"],
      (name, index) => of(index).commit(checks, changes({ [name]: "2" })),
      atOnce,
    );
    expectEqual(done.filter(Boolean).length, 1);
  },

  "a guard keeps new keys out of a range that was counted": function* () {
    const { all, changes, get, key, kv, of, range } = yield* makeKeys;
    const most = 5;
    const counted = range("item ", "item!");
    const insert = (name: string, by: Kv) =>
      Effect.gen(function* () {
        const guard = yield* get("guard", by);
        if ((yield* by.count(counted)) >= most) return true;
        const checks = [{ key: key("guard"), version: guard?.version ?? null }];
        return yield* by.commit(checks, changes({ guard: "", [`item ${name}`]: "x" }));
      });
    yield* Effect.forEach(writers, (name, index) => retried(insert(name, of(index))), atOnce);
    expectEqual([yield* kv.count(counted), yield* kv.count(all)], [most, most + 1]);
  },

  "a guard keeps new keys out of a range that was listed": function* () {
    const { changes, get, key, list, of, range } = yield* makeKeys;
    const append = (by: Kv) =>
      Effect.gen(function* () {
        const guard = yield* get("guard", by);
        const [last] = yield* list(range("item ", "item!"), 1, true, by);
        const next = String(Number(last?.slice("item ".length) ?? 0) + 1).padStart(5, "0");
        const checks = [{ key: key("guard"), version: guard?.version ?? null }];
        return yield* by.commit(checks, changes({ guard: "", [`item ${next}`]: "x" }));
      });
    yield* Effect.forEach(writers, (_, index) => retried(append(of(index))), atOnce);
    expectEqual((yield* list(range("item ", "item!"))).length, writers.length);
  },

  "racing commits without checks all succeed, each as a whole": function* () {
    const { key, kv, most, of, set } = yield* makeKeys;
    const names = numbered(most);
    yield* Effect.forEach(writers, (value, index) => set(filled(names, value), of(index)), atOnce);
    const entries = yield* kv.get(names.map(key));
    expectEqual(new Set(entries.map((entry) => entry?.value)).size, 1);
  },

  "an answered commit is in every later answer": function* () {
    const { all, get, kv, list, of, set } = yield* makeKeys;
    const isSeen = (name: string, index: number) =>
      Effect.gen(function* () {
        const [writer, reader] = [of(index), of(index + 1)];
        const isListed = Effect.map(list(all, 1_000, false, reader), (names) => names.includes(name));
        yield* set({ [name]: name }, writer);
        expectEqual((yield* get(name, reader))?.value, name);
        expectEqual(yield* isListed, true);
        yield* set({ [name]: null }, writer);
        expectEqual([yield* get(name, reader), yield* isListed], [null, false]);
      });
    yield* Effect.forEach(writers, isSeen, atOnce);
    expectEqual(yield* kv.count(all), 0);
  },
};
