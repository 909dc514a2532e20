import { type StoreEffect, StoreUnavailable } from "@accountlink/core/errors";
import { Effect } from "effect";
import type { Entry, Kv } from "./kv.ts";

type DenoKey = ReadonlyArray<string>;

interface DenoEntry {
  readonly value: unknown;
  readonly versionstamp: string | null;
}

interface DenoAtomic {
  check(...checks: ReadonlyArray<{ key: DenoKey; versionstamp: string | null }>): DenoAtomic;
  set(key: DenoKey, value: unknown): DenoAtomic;
  delete(key: DenoKey): DenoAtomic;
  commit(): Promise<{ readonly ok: boolean }>;
}

/** What an engine uses of `Deno.Kv`, whose types only Deno has. */
export interface DenoKv {
  getMany(keys: ReadonlyArray<DenoKey>): Promise<ReadonlyArray<DenoEntry>>;
  list(
    range: { start: DenoKey; end: DenoKey },
    options: { limit?: number; reverse: boolean; batchSize: number },
  ): AsyncIterable<DenoEntry & { readonly key: ReadonlyArray<unknown> }>;
  atomic(): DenoAtomic;
}

/** The most keys that Deno KV reads at once. */
const mostKeys = 10;

/** The most entries that Deno KV lists at once. */
const mostEntries = 500;

/** All keys of a commit may have 80 KiB. Keys of this service have fewer bytes than 130. */
const maxChanges = 600;

const keyOf = (key: string): DenoKey => ["accountlink", key];

const [encoder, decoder] = [new TextEncoder(), new TextDecoder("utf-8", { ignoreBOM: true })];

const entryOf = (key: string, { value, versionstamp }: DenoEntry): Entry | null =>
  versionstamp === null ? null : { key, value: decoder.decode(value as Uint8Array), version: versionstamp };

const call = <A>(operation: string, run: () => Promise<A>): StoreEffect<A> =>
  Effect.tryPromise({ try: run, catch: (cause) => new StoreUnavailable({ operation, cause }) });

/**
 * An engine on Deno KV. Its keys begin with `accountlink`. Values are bytes, because Deno encodes a text with up to two
 * bytes a character, and a value has at most 64 KiB.
 *
 * @param kv what `Deno.openKv` opens
 *
 * @example
 * ```ts
 * import type { DenoKv } from "@accountlink/kv";
 * import { Effect } from "effect";
 *
 * export const storage = (open: () => Promise<DenoKv>) => layer(Effect.map(Effect.promise(open), denoKv));
 * ```
 */
export const denoKv = (kv: DenoKv): Kv => {
  const read = async (keys: ReadonlyArray<string>): Promise<ReadonlyArray<Entry | null>> => {
    const parts = Array.from({ length: Math.ceil(keys.length / mostKeys) }, (_, part) =>
      keys.slice(part * mostKeys, (part + 1) * mostKeys),
    );
    const found = await Promise.all(parts.map((part) => kv.getMany(part.map(keyOf))));
    return found.flat().map((entry, index) => entryOf(keys[index] as string, entry));
  };

  /** Reads again until nothing has changed in between, so that the answer is true of one moment. */
  const readAtOnce = async (keys: ReadonlyArray<string>): Promise<ReadonlyArray<Entry | null>> => {
    let entries = await read(keys);
    while (keys.length > mostKeys) {
      const again = await read(keys);
      if (again.every((entry, index) => entry?.version === entries[index]?.version)) break;
      entries = again;
    }
    return entries;
  };

  const listed = async (start: string, end: string, reverse: boolean, limit: number) => {
    const found: Array<Entry> = [];
    if (start >= end || limit <= 0) return found;
    const options = { reverse, batchSize: Math.min(limit, mostEntries) };
    const range = { start: keyOf(start), end: keyOf(end) };
    for await (const entry of kv.list(range, Number.isFinite(limit) ? { ...options, limit } : options)) {
      found.push(entryOf(entry.key[1] as string, entry) as Entry);
    }
    return found;
  };

  return {
    maxChanges,

    get: (keys) => call("Kv.get", () => readAtOnce(keys)),

    list: ({ start, end }, { limit, reverse }) => call("Kv.list", () => listed(start, end, reverse, limit)),

    count: ({ start, end }) =>
      call("Kv.count", async () => (await listed(start, end, false, Infinity)).length),

    commit: (checks, changes) =>
      call("Kv.commit", async () => {
        const atomic = kv.atomic();
        for (const { key, version } of checks) atomic.check({ key: keyOf(key), versionstamp: version });
        for (const { key, value } of changes) {
          if (value === null) atomic.delete(keyOf(key));
          else atomic.set(keyOf(key), encoder.encode(value));
        }
        return (await atomic.commit()).ok;
      }),
  };
};
