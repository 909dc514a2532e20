import type { Entry } from "@accountlink/kv";
import { Effect, Order } from "effect";
import * as FastCheck from "fast-check";
import { check } from "../../mod.ts";
import { expectEqual, expectThat } from "../expect.ts";
import type { Cases } from "../suite.ts";
import { type Engine, makeKeys, type OtherHandle } from "./engine.ts";

const { array, boolean, constant, constantFrom, oneof, record, uniqueArray } = FastCheck;

/** Names that differ by case or by a space at the end, and that an engine may sort in a wrong order. */
const anyName = constantFrom("", ...Array.from(" !*-012AB_a~"), "0 0", "00", "10", "a ", "a!", "ab");
const name = oneof({ weight: 2, arbitrary: constantFrom("a", "A", "a ") }, { weight: 1, arbitrary: anyName });
const ofName = { selector: (each: { readonly name: string }) => each.name, maxLength: 4 };

const commit = record({
  is: constant("commit"),
  /** Each check has the current version of its key, or an earlier one. */
  checks: uniqueArray(record({ name, age: constantFrom(0, 0, 0, 1, 2) }), ofName),
  changes: uniqueArray(record({ name, value: constantFrom(null, "", "1", "2") }), ofName),
});

const read = record({
  is: constant("read"),
  start: anyName,
  end: anyName,
  limit: constantFrom(0, 1, 2, 100),
  reverse: boolean(),
  wanted: array(anyName, { maxLength: 4 }),
});

type StepOf<A> = A extends FastCheck.Arbitrary<infer Step> ? Step : never;

/** A model of the keys of one case. The engine makes the versions. */
const newModel = Effect.map(makeKeys, ({ key, kv, range }) => {
  const stored = new Map<string, Entry>();
  /** All versions that each key has had; null while the key was absent. */
  const versions = new Map<string, ReadonlyArray<string | null>>();
  const versionsOf = (each: string) => versions.get(each) ?? [null];

  return {
    read: Effect.fnUntraced(function* (step: StepOf<typeof read>) {
      const wanted = range(step.start, step.end);
      const within = [...stored.values()]
        .filter((entry) => wanted.start <= entry.key && entry.key < wanted.end)
        .toSorted((one, other) => Order.String(one.key, other.key));
      const ordered = step.reverse ? within.toReversed() : within;
      expectEqual(yield* kv.list(wanted, step), ordered.slice(0, step.limit), "The list");
      expectEqual(yield* kv.count(wanted), within.length, "The count");
      const keys = step.wanted.map(key);
      const found = keys.map((each) => stored.get(each) ?? null);
      expectEqual(yield* kv.get(keys), found, "The entries");
    }),

    commit: Effect.fnUntraced(function* (step: StepOf<typeof commit>) {
      const checks = step.checks.map((each) => ({
        key: key(each.name),
        version: versionsOf(key(each.name)).at(-1 - each.age) ?? null,
      }));
      const changes = step.changes.map(({ value, ...each }) => ({ key: key(each.name), value }));
      const holds = checks.every((each) => (versionsOf(each.key).at(-1) ?? null) === each.version);
      expectEqual(yield* kv.commit(checks, changes), holds, "Whether the checks hold");
      if (!holds) return;
      const made = yield* kv.get(changes.map((change) => change.key));
      for (const [index, { key: changed, value }] of changes.entries()) {
        const version = made[index]?.version ?? null;
        expectEqual(made[index]?.value ?? null, value, "The changed value");
        expectThat(
          version === null || !versionsOf(changed).includes(version),
          "the commit gives the key another version",
        );
        versions.set(changed, [...versionsOf(changed), version]);
        stored.delete(changed);
        if (value !== null && version !== null) stored.set(changed, { key: changed, value, version });
      }
    }),
  };
});

export const randomCases: Cases<Engine | OtherHandle> = {
  "commits and reads in any order agree with a model": check(
    array(oneof(commit, read), { maxLength: 40, size: "max" }),
    Effect.fnUntraced(function* (steps) {
      const model = yield* newModel;
      for (const step of steps) yield* step.is === "read" ? model.read(step) : model.commit(step);
    }),
  ),
};
