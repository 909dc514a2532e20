import { Effect } from "effect";
import type { Entry, Kv, Range } from "./kv.ts";

const longest = 256;

/**
 * Keys of one table or index. A change of a key is only noted; a read of a range sorts what was noted. So keys that
 * nobody reads by range, such as guards, are rarely sorted.
 */
class SortedKeys {
  /** In order, in runs of up to `longest` keys, so that an insert moves few of them. No run is empty. */
  #runs: Array<Array<string>> = [];
  #size = 0;
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
    if (this.#noted.length > 2 * this.#size + 1_024) this.settle();
  }

  /** Sorts what was noted. */
  settle(): this {
    if (this.#noted.length === 0) return this;
    if (this.#noted.length > this.#size / 8) {
      const keys = Array.from(new Set([...this.#runs, this.#noted].flat()))
        .filter(this.#has)
        // oxlint-disable-next-line unicorn/no-array-sort -- the array is new
        .sort();
      this.#size = keys.length;
      this.#runs = Array.from({ length: Math.ceil((2 * keys.length) / longest) }, (_, run) =>
        keys.slice((run * longest) / 2, ((run + 1) * longest) / 2),
      );
    } else {
      for (const key of this.#noted) this.#set(key, this.#has(key));
    }
    this.#noted = [];
    return this;
  }

  count({ start, end }: Range): number {
    const [first, last] = [this.#find(start), this.#find(end)];
    let between = last.at - first.at;
    for (let run = first.run; run < last.run; run++) between += this.#runs[run]?.length ?? 0;
    return between;
  }

  *forward({ start, end }: Range): Generator<string> {
    let { run, at } = this.#find(start);
    for (let keys = this.#runs[run]; keys !== undefined; keys = this.#runs[++run], at = 0) {
      for (; at < keys.length; at++) {
        if ((keys[at] as string) >= end) return;
        yield keys[at] as string;
      }
    }
  }

  *backward({ start, end }: Range): Generator<string> {
    let { run, at } = this.#find(end);
    for (; run >= 0; at = this.#runs[--run]?.length ?? 0) {
      while (at-- > 0) {
        const key = this.#runs[run]?.[at] as string;
        if (key < start) return;
        yield key;
      }
    }
  }

  #set(key: string, isKept: boolean): void {
    let { run, at } = this.#find(key);
    if (run > 0 && run === this.#runs.length) at = this.#runs[--run]?.length ?? 0;
    const keys = (this.#runs[run] ??= []);
    if ((keys[at] === key) === isKept) return;
    this.#size += isKept ? 1 : -1;
    if (isKept) keys.splice(at, 0, key);
    else keys.splice(at, 1);
    if (keys.length > longest) this.#runs.splice(run + 1, 0, keys.splice(longest / 2));
    if (keys.length === 0) this.#runs.splice(run, 1);
  }

  /** The place of the first key that is not less. */
  #find(key: string) {
    const runs = this.#runs;
    const run = firstIndex(runs.length, (index) => {
      const keys = runs[index] as Array<string>;
      return (keys[keys.length - 1] as string) >= key;
    });
    const keys = runs[run] ?? [];
    return { run, at: firstIndex(keys.length, (index) => (keys[index] as string) >= key) };
  }
}

/** The first index below `length` for which `holds` is true, or `length`. It stays true from there on. */
const firstIndex = (length: number, holds: (index: number) => boolean): number => {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
};

/** The first part of a key, which names a table or an index. */
const nameOf = (key: string): string => {
  const end = key.indexOf(" ");
  return end < 0 ? key : key.slice(0, end);
};

/** The end of the keys with a name. */
const endOf = (name: string): string => `${name}!`;

const noKeys = new SortedKeys(() => false);

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

  /** The tables with keys of a range, in order. */
  const tablesOf = ({ start, end }: Range): ReadonlyArray<SortedKeys> => {
    if (start >= end) return [];
    const name = nameOf(start);
    if (end <= endOf(name)) return [tables.get(name)?.settle() ?? noKeys];
    const names = [...tables.keys()].filter((each) => each < end && endOf(each) > start).toSorted();
    return names.flatMap((each) => tables.get(each)?.settle() ?? []);
  };

  return {
    maxChanges: Infinity,

    get: (wanted) => Effect.sync(() => wanted.map((key) => entries.get(key) ?? null)),

    list: (range, { limit, reverse }) =>
      Effect.sync(() => {
        const found: Array<Entry> = [];
        const ordered = tablesOf(range);
        for (const keys of reverse ? ordered.toReversed() : ordered) {
          for (const key of reverse ? keys.backward(range) : keys.forward(range)) {
            if (found.length >= limit) return found;
            found.push(entries.get(key) as Entry);
          }
        }
        return found;
      }),

    count: (range) => Effect.sync(() => tablesOf(range).reduce((sum, keys) => sum + keys.count(range), 0)),

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
