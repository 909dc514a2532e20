/** For tests: stores in a map, on which concurrent operations can overtake each other. */
import type { KeyValueStore } from "./key_value_store.ts";
import type { SingleKeyStore } from "./single_process.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

export const makeMapStore = (entries: Map<string, string> = new Map()): KeyValueStore => {
  return {
    get: async (keys) => {
      await turn();
      return keys.map((key) => entries.get(key) ?? null);
    },
    list: async ({ after, before, limit }) => {
      await turn();
      return [...entries]
        .filter(([key]) => key > after && key < before)
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .slice(0, limit);
    },
    commit: async ({ check, writes }) => {
      await turn();
      if ((entries.get(check.key) ?? null) !== check.value) return false;
      for (const [key, value] of writes) {
        if (value === null) entries.delete(key);
        else entries.set(key, value);
      }
      return true;
    },
  };
};

export const makeSingleKeys = (entries: Map<string, string> = new Map()): SingleKeyStore => ({
  get: async (key) => {
    await turn();
    return entries.get(key) ?? null;
  },
  set: async (key, value) => {
    await turn();
    entries.set(key, value);
  },
  remove: async (key) => {
    await turn();
    entries.delete(key);
  },
  keys: async () => [...entries.keys()],
});
