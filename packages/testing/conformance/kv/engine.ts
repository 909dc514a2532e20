/** What the cases of engines share: each case has keys of its own, so that an engine need not be empty. */
import { type Change, type Entry, type Kv, maxChanges, type Range } from "@accountlink/kv";
import { Array as Arr, Context, Effect } from "effect";
import { uniqueText } from "../../mod.ts";
import { expectEqual } from "../expect.ts";

export class Engine extends Context.Service<Engine, Kv>()("@accountlink/testing/Engine") {}

/** A second handle on the store of the engine, as another process has it, or the engine itself. */
export class OtherHandle extends Context.Service<OtherHandle, Kv>()("@accountlink/testing/OtherHandle") {}

/** Makes the names of a case keys with a prefix that no other case has. */
export const makeKeys = Effect.map(Effect.all([Engine, OtherHandle]), ([kv, other]) => {
  const prefix = `${uniqueText()} `;
  const key = (name: string) => `${prefix}${name}`;
  const range = (start: string, end: string): Range => ({ start: key(start), end: key(end) });
  const most = Math.min(kv.maxChanges ?? maxChanges, maxChanges);
  const all = range("", "~~");
  const namesOf = (entries: ReadonlyArray<Entry>) => entries.map((entry) => entry.key.slice(prefix.length));
  return {
    kv,
    /** The handle of one of several writers. Half of the writers have the other. */
    of: (writer: number): Kv => (writer % 2 === 0 ? kv : other),
    key,
    range,
    all,
    get: (name: string, by: Kv = kv) => Effect.map(by.get([key(name)]), ([entry]) => entry ?? null),
    /** The most changes of a commit, or as many as every test of the port needs. */
    most,
    /** Sets names to values without a check, in commits of the most changes. */
    set: (values: Readonly<Record<string, string | null>>, by: Kv = kv) =>
      Effect.forEach(Arr.chunksOf(changesOf(values, key), most), (changes) =>
        Effect.map(by.commit([], changes), (isDone) => expectEqual(isDone, true, "The commit")),
      ),
    changes: (values: Readonly<Record<string, string | null>>) => changesOf(values, key),
    list: (wanted: Range = all, limit = 1_000, reverse = false, by: Kv = kv) =>
      Effect.map(by.list(wanted, { limit, reverse }), namesOf),
  };
});

const changesOf = (
  values: Readonly<Record<string, string | null>>,
  key: (name: string) => string,
): ReadonlyArray<Change> => Object.entries(values).map(([name, value]) => ({ key: key(name), value }));

/** The names of a number of keys, which sort as their numbers. */
export const numbered = (count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => String(index).padStart(5, "0"));

/** Gives all names one value. */
export const filled = (names: ReadonlyArray<string>, value: string): Readonly<Record<string, string>> =>
  Object.fromEntries(names.map((name) => [name, value]));
