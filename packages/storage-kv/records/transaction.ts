/** What one operation reads and writes. */
import { StoreUnavailable } from "@accountlink/core";
import { Effect } from "effect";
import type { KeyValueEntry, KeyValueStore } from "../key_value_store.ts";
import { type Head, headKey, headText, readHead } from "./head.ts";

type Read<A> = Effect.Effect<A, StoreUnavailable>;

/** How many entries a list asks for at once. */
const pageSize = 500;

/** Reads see the writes of the transaction. */
export class Transaction {
  readonly store: KeyValueStore;
  readonly #operation: string;
  readonly #read = new Map<string, string | null>();
  readonly #written = new Map<string, string | null>();
  #begun: string | null = null;
  #head: Head | undefined;

  /** @param operation for the error of a store that does not answer */
  constructor(store: KeyValueStore, operation: string) {
    this.store = store;
    this.#operation = operation;
  }

  /** Reads the state that `end` compares. */
  readonly begin: Read<void> = Effect.suspend(() =>
    Effect.map(
      this.#ask(() => this.store.get([headKey])),
      ([text = null]) => {
        this.#begun = text;
        this.#head = readHead(text);
      },
    ),
  );

  /** Commits the writes. False if any other transaction did so since the begin: then nothing was written. */
  readonly end: Read<boolean> = Effect.suspend(() => {
    if (this.#written.size === 0) {
      return Effect.map(
        this.#ask(() => this.store.get([headKey])),
        ([text = null]) => text === this.#begun,
      );
    }
    const { commits, ...head } = this.#knownHead();
    const writes = [...this.#written, [headKey, headText({ ...head, commits: commits + 1 })] as const];
    const check = { key: headKey, value: this.#begun };
    return Effect.uninterruptible(this.#ask(() => this.store.commit({ check, writes })));
  });

  /** The number of the last audit entry or event. */
  get lastSequence(): number {
    return this.#knownHead().sequence;
  }

  /** The number of the next audit entry or event. */
  nextSequence(): number {
    const head = this.#knownHead();
    this.#head = { ...head, sequence: head.sequence + 1 };
    return head.sequence + 1;
  }

  get(key: string): Read<string | null> {
    return Effect.map(this.getAll([key]), ([value = null]) => value);
  }

  getAll(keys: ReadonlyArray<string>): Read<ReadonlyArray<string | null>> {
    const isKnown = (key: string) => this.#written.has(key) || this.#read.has(key);
    const known = (key: string) => (this.#written.has(key) ? this.#written : this.#read).get(key) ?? null;
    const asked = [...new Set(keys)].filter((key) => !isKnown(key));
    if (asked.length === 0) return Effect.sync(() => keys.map(known));
    return Effect.map(
      this.#ask(() => this.store.get(asked)),
      (values) => {
        for (const [i, key] of asked.entries()) this.#read.set(key, values[i] ?? null);
        return keys.map(known);
      },
    );
  }

  /** The first entries between two keys. */
  list(after: string, before: string, limit: number): Read<ReadonlyArray<KeyValueEntry>> {
    return Effect.suspend(() => {
      const written = [...this.#written].filter(([key]) => key > after && key < before);
      if (written.length === 0) return this.#stored(after, before, limit);
      return Effect.map(this.#stored(after, before, limit + written.length), (stored) => {
        const added = written.flatMap(([key, value]) => (value === null ? [] : [[key, value] as const]));
        return [...stored.filter(([key]) => !this.#written.has(key)), ...added]
          .toSorted(([one], [other]) => (one < other ? -1 : 1))
          .slice(0, limit);
      });
    });
  }

  set(key: string, text: string): void {
    this.#written.set(key, text);
  }

  delete(key: string): void {
    this.#written.set(key, null);
  }

  readonly #stored = Effect.fnUntraced(function* (
    this: Transaction,
    after: string,
    before: string,
    limit: number,
  ): Effect.fn.Return<ReadonlyArray<KeyValueEntry>, StoreUnavailable> {
    const found: Array<KeyValueEntry> = [];
    let from = after;
    while (found.length < limit) {
      const range = { after: from, before, limit: Math.min(limit - found.length, pageSize) };
      const page = yield* this.#ask(() => this.store.list(range));
      found.push(...page);
      if (page.length < range.limit) break;
      from = page.at(-1)?.[0] ?? before;
    }
    return found;
  });

  #knownHead(): Head {
    if (this.#head === undefined) throw new Error("Cannot write in a lookup, expected a write");
    return this.#head;
  }

  #ask<A>(call: () => Promise<A>): Read<A> {
    const operation = this.#operation;
    return Effect.tryPromise({ try: call, catch: (cause) => new StoreUnavailable({ operation, cause }) });
  }
}
