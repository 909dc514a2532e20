/**
 * Commits of any size, on a store whose commits are small. The writes go into a journal first. One write to the head
 * then decides: from there on whoever reads applies the journal before anything else, also after a crash.
 */
import type { KeyValueCommit, KeyValueStore } from "./key_value_store.ts";
import { headKey } from "./records/head.ts";

type Writes = KeyValueCommit["writes"];

/** The head while a journal is applied. */
interface Pending {
  readonly journal: string;
  /** How many records the journal has. */
  readonly records: number;
  /** The head afterwards. */
  readonly head: string;
}

/** A check of a key that never exists. */
const always = { key: "journal", value: null };

/** The text of a journal record, in UTF-16 code units, unless one write is longer. */
const recordLength = 16_384;

/** @param largestCommit how many writes a commit of the store can have */
export const withJournal = (store: KeyValueStore, largestCommit: number): KeyValueStore => {
  const write = async (check: KeyValueCommit["check"], writes: Writes): Promise<boolean> => {
    for (let i = 0; i < writes.length; i += largestCommit) {
      if (!(await store.commit({ check, writes: writes.slice(i, i + largestCommit) }))) return false;
    }
    return true;
  };

  /** Several may do so at once: all write the same, and only while the head is `text`. */
  const apply = async (text: string, pending: Pending): Promise<void> => {
    const check = { key: headKey, value: text };
    const keys = recordKeys(pending);
    for (const record of await store.get(keys)) {
      // Another one has finished.
      if (record === null || !(await write(check, JSON.parse(record) as Writes))) return;
    }
    if (!(await store.commit({ check, writes: [[headKey, pending.head]] }))) return;
    await forget(keys);
  };

  const forget = async (keys: ReadonlyArray<string>): Promise<void> => {
    await write(
      always,
      keys.map((key) => [key, null]),
    );
  };

  const get: KeyValueStore["get"] = async (keys) => {
    while (true) {
      const [head = null, ...values] = await store.get([headKey, ...keys]);
      const pending = pendingIn(head);
      if (head === null || pending === null) return values;
      await apply(head, pending);
    }
  };

  return {
    ...store,
    get,

    list: async (range) => {
      await get([]);
      return store.list(range);
    },

    commit: async ({ check, writes }) => {
      if (writes.length <= largestCommit) return store.commit({ check, writes });
      const head = writes.find(([key]) => key === headKey)?.[1] ?? "";
      const records = packed(writes.filter(([key]) => key !== headKey));
      const pending = { journal: crypto.randomUUID(), records: records.length, head };
      const text = JSON.stringify(pending);
      const keys = recordKeys(pending);
      const isDecided =
        (await write(
          check,
          records.map((record, i) => [keys[i] as string, record]),
        )) && (await store.commit({ check, writes: [[headKey, text]] }));
      if (!isDecided) {
        await forget(keys);
        return false;
      }
      // If it fails now, the next read goes on with it.
      await apply(text, pending).catch(() => undefined);
      return true;
    },
  };
};

const recordKeys = ({ journal, records }: Pending): ReadonlyArray<string> =>
  Array.from({ length: records }, (_, i) => `journal/${journal}/${i}`);

const pendingIn = (head: string | null): Pending | null =>
  head?.startsWith('{"journal"') ? (JSON.parse(head) as Pending) : null;

/** The writes as texts of about `recordLength`. */
const packed = (writes: Writes): ReadonlyArray<string> => {
  const records: Array<Array<string>> = [];
  let room = 0;
  for (const write of writes) {
    const text = JSON.stringify(write);
    if (room < text.length || records.length === 0) {
      records.push([]);
      room = recordLength;
    }
    records.at(-1)?.push(text);
    room -= text.length;
  }
  return records.map((texts) => `[${texts.join(",")}]`);
};
