import { Effect } from "effect";
import type { Entry, Kv, Range } from "./kv.ts";

const longest = 512;

/** Keys in order, in runs of up to `longest` keys, so that an insert moves few of them. */
class SortedKeys {
  readonly #runs: Array<Array<string>> = [[]];

  add(key: string): void {
    const { run, at } = this.#find(key);
    const keys = this.#runs[run] as Array<string>;
    keys.splice(at, 0, key);
    if (keys.length > longest) this.#runs.splice(run + 1, 0, keys.splice(longest / 2));
  }

  remove(key: string): void {
    const { run, at } = this.#find(key);
    const keys = this.#runs[run] as Array<string>;
    keys.splice(at, 1);
    if (keys.length === 0 && this.#runs.length > 1) this.#runs.splice(run, 1);
  }

  count({ start, end }: Range): number {
    if (start >= end) return 0;
    const [first, last] = [this.#find(start), this.#find(end)];
    let between = last.at - first.at;
    for (let run = first.run; run < last.run; run++) between += (this.#runs[run] as Array<string>).length;
    return between;
  }

  *forward({ start, end }: Range): Generator<string> {
    let { run, at } = this.#find(start);
    for (; run < this.#runs.length; run++, at = 0) {
      const keys = this.#runs[run] as Array<string>;
      for (; at < keys.length; at++) {
        if ((keys[at] as string) >= end) return;
        yield keys[at] as string;
      }
    }
  }

  *backward({ start, end }: Range): Generator<string> {
    let { run, at } = this.#find(end);
    for (; run >= 0; at = this.#runs[--run]?.length ?? 0) {
      const keys = this.#runs[run] as Array<string>;
      while (at-- > 0) {
        if ((keys[at] as string) < start) return;
        yield keys[at] as string;
      }
    }
  }

  /** The place of the first key that is not less. */
  #find(key: string) {
    const run = firstIndex(
      this.#runs.length - 1,
      (index) => !(((this.#runs[index] as Array<string>).at(-1) as string) < key),
    );
    const keys = this.#runs[run] as Array<string>;
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

/** An engine in memory. Every operation is synchronous, so it is atomic. */
export const memoryKv = (): Kv => {
  const entries = new Map<string, Entry>();
  const keys = new SortedKeys();
  let commits = 0;
  return {
    maxChanges: Infinity,

    get: (wanted) => Effect.sync(() => wanted.map((key) => entries.get(key) ?? null)),

    list: (range, { limit, reverse }) =>
      Effect.sync(() => {
        const found: Array<Entry> = [];
        if (limit <= 0) return found;
        for (const key of reverse ? keys.backward(range) : keys.forward(range)) {
          found.push(entries.get(key) as Entry);
          if (found.length === limit) break;
        }
        return found;
      }),

    count: (range) => Effect.sync(() => keys.count(range)),

    commit: (checks, changes) =>
      Effect.sync(() => {
        if (checks.some(({ key, version }) => (entries.get(key)?.version ?? null) !== version)) return false;
        const version = String(++commits);
        for (const { key, value } of changes) {
          if (value === null) {
            if (entries.delete(key)) keys.remove(key);
          } else {
            if (!entries.has(key)) keys.add(key);
            entries.set(key, { key, value, version });
          }
        }
        return true;
      }),
  };
};
