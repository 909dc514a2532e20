/** A key-value store of one process, on a store that only reads and writes single keys. */
import type { KeyValueEntry, KeyValueStore } from "./key_value_store.ts";
import { headKey } from "./records/head.ts";

/**
 * A store of single keys, such as files. Keys and values are as in `KeyValueStore`. What `set` has written, survives a
 * crash of the process; a `set` that a crash interrupts has written all or nothing.
 */
export interface SingleKeyStore {
  /** The value of a key; null if it does not exist. */
  readonly get: (key: string) => Promise<string | null>;
  readonly set: (key: string, value: string) => Promise<void>;
  /** Deletes a key, if it exists. */
  readonly remove: (key: string) => Promise<void>;
  /** All keys, in any order. */
  readonly keys: () => Promise<ReadonlyArray<string>>;
  readonly close?: () => Promise<void>;
}

/**
 * Makes a `KeyValueStore` of it, for one process at a time: it keeps all keys in memory, and a journal in the store, so
 * that a crash leaves no operation half done. After another process has written to the store, every write fails.
 */
export const singleProcess = async (single: SingleKeyStore): Promise<KeyValueStore> => {
  const keys = (await single.keys()).toSorted();
  /** What this process may have written last: a write that failed may have been done. */
  let heads = [await single.get(headKey)];
  let turn: Promise<unknown> = Promise.resolve();

  const write = async (key: string, value: string | null): Promise<void> => {
    await (value === null ? single.remove(key) : single.set(key, value));
    const index = firstNotBefore(keys, key);
    const isKnown = keys[index] === key;
    if (isKnown && value === null) keys.splice(index, 1);
    if (!isKnown && value !== null) keys.splice(index, 0, key);
  };

  const commit: KeyValueStore["commit"] = async ({ check, writes }) => {
    const current = await single.get(check.key);
    if (check.key === headKey && !heads.includes(current)) {
      throw new Error("Cannot write: another process has written to the store, expected only this one");
    }
    if (current !== check.value) return false;
    for (const [key, value] of writes) {
      if (key === headKey) heads = [current, value];
      await write(key, value);
      if (key === headKey) heads = [value];
    }
    return true;
  };

  return {
    largestCommit: 1,
    get: (asked) => Promise.all(asked.map((key) => single.get(key))),
    list: async ({ after, before, limit }) => {
      const start = firstNotBefore(keys, `${after}\0`);
      const listed = keys.slice(start, Math.min(firstNotBefore(keys, before), start + limit));
      const values = await Promise.all(listed.map((key) => single.get(key)));
      return listed.flatMap((key, i): ReadonlyArray<KeyValueEntry> => {
        const value = values[i] ?? null;
        return value === null ? [] : [[key, value]];
      });
    },
    commit: (asked) => {
      const next = turn.then(() => commit(asked));
      turn = next.catch(() => undefined);
      return next;
    },
    ...(single.close && { close: single.close }),
  };
};

/** The index of the first key that is not before `key`. */
const firstNotBefore = (keys: ReadonlyArray<string>, key: string): number => {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
};
