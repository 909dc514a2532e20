import { Effect } from "effect";
import type { Entry, Kv, Range } from "./kv.ts";

/**
 * Keys of one table or index. A change of a key is only noted; a read of a range sorts what was noted. So keys that
 * nobody reads by range, such as guards, are rarely sorted.
 */
class SortedKeys {
  #keys: Array<string> = [];
  #noted: Array<string> = [];
  readonly #has: (key: string) => boolean;

  /** @param has returns whether the engine has a key */
  constructor(has: (key: string) => boolean) {
    this.#has = has;
  }

  /** Notes a key that the engine has got or lost. */
  note(key: string): void {
    this.#noted.push(key);
    // Bounds what keys that come and go leave.
    if (this.#noted.length > 2 * this.#keys.length + 1_024) this.sorted();
  }

  sorted(): ReadonlyArray<string> {
    if (this.#noted.length > this.#keys.length / 8) {
      this.#keys = Array.from(new Set([this.#keys, this.#noted].flat()))
        .filter(this.#has)
        // oxlint-disable-next-line unicorn/no-array-sort -- the array is new
        .sort();
    } else {
      for (const key of this.#noted) {
        const at = placeOf(this.#keys, key);
        const isThere = this.#keys[at] === key;
        if (isThere && !this.#has(key)) this.#keys.splice(at, 1);
        if (!isThere && this.#has(key)) this.#keys.splice(at, 0, key);
      }
    }
    this.#noted = [];
    return this.#keys;
  }
}

/** The index of the first key that is not less. */
const placeOf = (keys: ReadonlyArray<string>, key: string): number => {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as string) >= key) high = middle;
    else low = middle + 1;
  }
  return low;
};

const nameOf = (key: string): string => {
  const end = key.indexOf(" ");
  return end < 0 ? key : key.slice(0, end);
};

const endOf = (name: string): string => `${name}!`;

/** An engine in memory. Every operation is synchronous, so it is atomic. */
export const memoryKv = (): Kv => {
  const entries = new Map<string, Entry>();
  const tables = new Map<string, SortedKeys>();
  let commits = 0;

  const has = (key: string) => entries.has(key);

  const note = (key: string): void => {
    const name = nameOf(key);
    let keys = tables.get(name);
    if (keys === undefined) tables.set(name, (keys = new SortedKeys(has)));
    keys.note(key);
  };

  /** The keys of each table with keys of a range, in order: their sorted keys, and the first and the end of the range. */
  const rangesOf = ({ start, end }: Range) => {
    if (start >= end) return [];
    const name = nameOf(start);
    const names =
      end <= endOf(name)
        ? [name]
        : [...tables.keys()].filter((each) => each < end && endOf(each) > start).toSorted();
    return names.map((each) => {
      const keys = tables.get(each)?.sorted() ?? [];
      return { keys, from: placeOf(keys, start), to: placeOf(keys, end) };
    });
  };

  return {
    maxChanges: Infinity,

    get: (wanted) => Effect.sync(() => wanted.map((key) => entries.get(key) ?? null)),

    list: (range, { limit, reverse }) =>
      Effect.sync(() => {
        const found: Array<string> = [];
        const ranges = rangesOf(range);
        for (const { keys, from, to } of reverse ? ranges.toReversed() : ranges) {
          const left = limit - found.length;
          const part = reverse
            ? keys.slice(Math.max(from, to - left), to).toReversed()
            : keys.slice(from, Math.min(to, from + left));
          for (const key of part) found.push(key);
        }
        return found.map((key) => entries.get(key) as Entry);
      }),

    count: (range) => Effect.sync(() => rangesOf(range).reduce((sum, { from, to }) => sum + to - from, 0)),

    commit: (checks, changes) =>
      Effect.sync(() => {
        if (checks.some(({ key, version }) => (entries.get(key)?.version ?? null) !== version)) return false;
        const version = String(++commits);
        for (const { key, value } of changes) {
          if (value === null) {
            if (entries.delete(key)) note(key);
          } else {
            const isNew = !entries.has(key);
            entries.set(key, { key, value, version });
            if (isNew) note(key);
          }
        }
        return true;
      }),
  };
};
