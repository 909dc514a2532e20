/**
 * Transactions over the four operations. A transaction keeps its changes until its end and remembers the version of
 * everything that it has read, absent keys and ranges included. The commit checks these versions, so a decision never
 * rests on data that has changed meanwhile: then the transaction runs again. A range has a guard, a key whose version
 * each change of a record in the range changes.
 */
import type { StoreEffect } from "@accountlink/core/errors";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { type Bounds, rangeOf, type Tuple } from "./keys.ts";
import { type Entry, type Kv, maxChanges, maxChecks, type Range } from "./kv.ts";
import { mapInParts } from "./long_lists.ts";
import { overtaken } from "./overtaken.ts";
import { isSplit, parsed, partKeys, partLength, splitMark, type Text } from "./split_texts.ts";
import { guardKey, type Index, type IndexKeys, indexKeys, keyOf, noKeys, type Table } from "./table.ts";

export interface ListOptions extends Bounds {
  /** The most records; all if left out. */
  readonly limit?: number;
  readonly reverse?: boolean;
}

/** The entries that one read of the engine returns at most. */
const pageSize = 1_000;

/** A table or an index. */
interface Ranged {
  readonly name: string;
  readonly group?: number | undefined;
}

export class Transaction {
  readonly #kv: Kv;
  /** Whether the reads decide on changes. Reads that do not are not checked. */
  readonly #isChecked: boolean;
  /** Whether it presumes that the keys of `create` are absent, and leaves it to the commit to find one that is taken. */
  readonly #presumes: boolean;
  /** Numbers of records, which are greater than those before them. */
  readonly timedNumber: (now: Millis) => number;
  readonly #seen = new Map<string, Entry | null>();
  /** Keys that a guard covers, so that they need no check of their own. */
  readonly #guarded = new Set<string>();
  readonly #checks = new Map<string, string | null>();
  readonly #changes = new Map<string, string | null>();
  #rounds = 0;

  constructor(kv: Kv, isChecked: boolean, presumes: boolean, timedNumber: (now: Millis) => number) {
    this.#kv = kv;
    this.#isChecked = isChecked;
    this.#presumes = presumes;
    this.timedNumber = timedNumber;
  }

  /** The most changes of the commit. */
  get most(): number {
    return this.#kv.maxChanges ?? maxChanges;
  }

  /** Whether the commit takes so many further checks and changes, of `most` changes. */
  hasRoom(checks: number, changes: number, most = this.most): boolean {
    return (
      this.#checks.size + checks <= maxChecks && this.#changes.size + changes <= Math.min(most, this.most)
    );
  }

  get<R>(table: Table<R>, ...id: Tuple): StoreEffect<R | undefined> {
    const key = keyOf(table, id);
    if (!this.#isKnown(key)) return Effect.map(this.#load([key]), () => this.#checked(key) as R | undefined);
    return Effect.succeed(this.#checked(key) as R | undefined);
  }

  /** Reads keys at once, so that single reads of them need no further round. */
  prefetch(keys: ReadonlyArray<string>): StoreEffect<void> {
    return this.#load(keys);
  }

  /** Reads the record of each item. If the table has groups, checks their guards instead of each record. */
  getAll<R, A>(
    table: Table<R>,
    items: ReadonlyArray<A>,
    idOf: (item: A) => Tuple,
  ): StoreEffect<ReadonlyArray<R | undefined>> {
    const { name, group } = table;
    const ids = items.map(idOf);
    const keys = ids.map((id) => keyOf(table, id));
    const guards = group === undefined ? [] : ids.map((id) => guardKey(name, id.slice(0, group)));
    return Effect.andThen(
      this.#load(keys, this.#unread(guards), group !== undefined),
      mapInParts(keys, (key) => this.#checked(key) as R | undefined),
    );
  }

  /** Returns the records of an index whose entries begin with a prefix, in the order of the entries. */
  list<R>(
    { name, group }: Index<R>,
    prefix: Tuple,
    options: ListOptions = {},
  ): StoreEffect<ReadonlyArray<R>> {
    return Effect.flatMap(this.#entries(name, group, prefix, options, true), (entries) => {
      const keys = entries.map(({ value }) => value);
      const records = mapInParts(keys, (key) => this.#checked(key) as R | undefined);
      return Effect.map(Effect.andThen(this.#load(keys, [], true), records), (found) =>
        found.filter((record) => record !== undefined),
      );
    });
  }

  /** Returns the records of a table whose keys begin with a prefix. */
  scan<R>(
    { name, group }: Table<R>,
    prefix: Tuple,
    options: ListOptions = {},
  ): StoreEffect<ReadonlyArray<R>> {
    return Effect.flatMap(this.#entries(name, group, prefix, options), (entries) =>
      Effect.andThen(
        this.#loadParts(entries),
        mapInParts(entries, (entry) => this.#recordOf(entry) as R),
      ),
    );
  }

  /** Counts the entries of an index, or the records of a table, that begin with a prefix. */
  count({ name, group }: Ranged, prefix: Tuple, bounds: Bounds = {}): StoreEffect<number> {
    const range = rangeOf(name, prefix, bounds);
    // Changes of this transaction are not in the engine yet.
    return this.#changes.size === 0
      ? Effect.flatMap(this.#guardOf(name, group, prefix), (guards) =>
          Effect.flatMap(this.#load([], guards), () => this.#kv.count(range)),
        )
      : Effect.map(this.#entries(name, group, prefix, bounds), ({ length }) => length);
  }

  put<R>(table: Table<R>, record: R): StoreEffect<void> {
    return Effect.map(this.get(table, ...table.id(record)), (before) => this.#replace(table, before, record));
  }

  /** Stores a record whose key is new, such as a random one. Returns false if the key is taken. */
  create<R>(table: Table<R>, record: R): StoreEffect<boolean> {
    const id = table.id(record);
    const key = keyOf(table, id);
    if (this.#presumes && !this.#isKnown(key)) this.#seen.set(key, null);
    return Effect.map(this.get(table, ...id), (found) => {
      if (found === undefined) this.#replace(table, undefined, record);
      return found === undefined;
    });
  }

  /** Stores a record whose key is known to be new, since it was made of a count that this transaction read. */
  insert<R>(table: Table<R>, record: R): void {
    this.#replace(table, undefined, record);
  }

  /** Deletes the record with a key, and returns it. */
  remove<R>(table: Table<R>, ...id: Tuple): StoreEffect<R | undefined> {
    return Effect.map(this.get(table, ...id), (before) => {
      if (before !== undefined) this.#replace(table, before, undefined);
      return before;
    });
  }

  /** Deletes a record of a table of which no index is left, and returns it. */
  take<R>(key: string): StoreEffect<R | undefined> {
    return Effect.map(this.#load([key]), () => {
      const found = this.#checked(key) as R | undefined;
      this.#removeParts(key);
      if (found !== undefined) this.#changes.set(key, null);
      return found;
    });
  }

  /** Makes the changes, unless something that was read has changed. */
  get commit(): StoreEffect<void> {
    if (!this.#isChecked || (this.#changes.size === 0 && this.#rounds <= 1)) return Effect.void;
    if (!this.hasRoom(0, 0)) {
      const made = `${this.#checks.size} checks and ${this.#changes.size} changes`;
      return Effect.die(new Error(`Cannot commit ${made}, expected at most ${maxChecks} and ${this.most}`));
    }
    const checks = Array.from(this.#checks, ([key, version]) => ({ key, version }));
    const changes = Array.from(this.#changes, ([key, value]) => ({ key, value }));
    return Effect.flatMap(this.#kv.commit(checks, changes), (isMade) =>
      isMade ? Effect.void : Effect.fail(overtaken("Kv.commit")),
    );
  }

  #isKnown(key: string): boolean {
    return this.#changes.has(key) || this.#seen.has(key);
  }

  /** Reads the keys that are not known yet, and the parts of split texts. With guards, which cover them, at one moment. */
  #load(
    keys: ReadonlyArray<string>,
    guards: ReadonlyArray<string> = [],
    isGuarded = false,
  ): StoreEffect<void> {
    const missing = keys.filter((key) => !this.#isKnown(key));
    if (missing.length + guards.length === 0) return Effect.void;
    const page = missing.slice(0, pageSize);
    this.#rounds++;
    const loaded = Effect.flatMap(this.#kv.get([...guards, ...page]), (found) => {
      const entries = found.slice(guards.length);
      this.#note(page, entries, isGuarded);
      return Effect.andThen(this.#checkGuards(guards, found), this.#loadParts(entries));
    });
    return page.length === missing.length
      ? loaded
      : Effect.flatMap(loaded, () => this.#load(missing, [], isGuarded));
  }

  /** Remembers what was read. Of reads at the same time, the first to be answered counts for all. */
  #note(keys: ReadonlyArray<string>, entries: ReadonlyArray<Entry | null>, isGuarded: boolean): void {
    for (const [index, key] of keys.entries()) {
      if (this.#seen.has(key)) continue;
      this.#seen.set(key, entries[index] ?? null);
      if (isGuarded && this.#isChecked) this.#guarded.add(key);
    }
  }

  #loadParts(entries: ReadonlyArray<Text | null>): StoreEffect<void> {
    const parts = entries.flatMap((entry) => (isSplit(entry?.value) ? partKeys(entry.value) : []));
    if (parts.length === 0) return Effect.void;
    return Effect.flatMap(this.#load(parts), () =>
      parts.every((part) => this.#textAt(part) !== "") ? Effect.void : Effect.fail(overtaken("Kv.get")),
    );
  }

  /** Makes the commit check a known key, and returns its record. */
  #checked(key: string): unknown {
    const entry = this.#isChecked && !this.#guarded.has(key) ? this.#seen.get(key) : undefined;
    if (entry !== undefined && !this.#checks.has(key)) this.#checks.set(key, entry?.version ?? null);
    return this.#recordAt(key);
  }

  #recordAt(key: string): unknown {
    const value = this.#changes.get(key);
    if (value === null) return undefined;
    const entry = value === undefined ? this.#seen.get(key) : { value };
    return entry === undefined || entry === null ? undefined : this.#recordOf(entry);
  }

  #recordOf(entry: Text): unknown {
    const { value } = entry;
    return parsed(entry, isSplit(value) ? partKeys(value).map(this.#textAt).join("") : value);
  }

  readonly #textAt = (key: string): string => this.#changes.get(key) ?? this.#seen.get(key)?.value ?? "";

  /** The guards that are not read yet. */
  #unread(guards: ReadonlyArray<string>): ReadonlyArray<string> {
    return this.#isChecked ? [...new Set(guards)].filter((guard) => !this.#checks.has(guard)) : [];
  }

  /** Makes the commit check guards. Fails if another read has found one in another version meanwhile. */
  #checkGuards(guards: ReadonlyArray<string>, entries: ReadonlyArray<Entry | null>): StoreEffect<void> {
    for (const [index, guard] of guards.entries()) {
      const version = entries[index]?.version ?? null;
      if (this.#checks.has(guard) && this.#checks.get(guard) !== version)
        return Effect.fail(overtaken("Kv.get"));
      this.#checks.set(guard, version);
    }
    return Effect.void;
  }

  /** The guard of a range, if it is not read yet. */
  #guardOf(name: string, group: number | undefined, prefix: Tuple): StoreEffect<ReadonlyArray<string>> {
    if (!this.#isChecked) return Effect.succeed([]);
    return group === undefined || prefix.length < group
      ? Effect.die(new Error(`Cannot read a range of "${name}" in a transaction, expected one of a group`))
      : Effect.succeed(this.#unread([guardKey(name, prefix.slice(0, group))]));
  }

  /** The entries of a range as of this transaction, whose values are keys of records if it `isIndex`. */
  #entries(
    name: string,
    group: number | undefined,
    prefix: Tuple,
    { limit = Infinity, reverse = false, ...bounds }: ListOptions,
    isIndex = false,
  ): StoreEffect<ReadonlyArray<Text>> {
    const range = rangeOf(name, prefix, bounds);
    const changed = [...this.#changes].filter(([key]) => key >= range.start && key < range.end);
    const listed = Effect.flatMap(this.#guardOf(name, group, prefix), (guards) =>
      this.#listed(range, limit + changed.length, reverse, guards, isIndex),
    );
    if (changed.length === 0) return listed;
    return Effect.map(listed, (entries) => {
      const found = new Map<string, Text>(entries.map((entry) => [entry.key, entry]));
      for (const [key, value] of changed) {
        if (value === null) found.delete(key);
        else found.set(key, { value });
      }
      const sorted = [...found].toSorted(([one], [other]) => (one < other ? -1 : 1));
      return (reverse ? sorted.toReversed() : sorted).slice(0, limit).map(([, text]) => text);
    });
  }

  /** Up to `limit` entries of the engine, read by pages. */
  #listed(
    range: Range,
    limit: number,
    reverse: boolean,
    guards: ReadonlyArray<string>,
    isIndex: boolean,
  ): StoreEffect<ReadonlyArray<Entry>> {
    const page = Math.min(pageSize, limit);
    return Effect.flatMap(this.#page(range, { limit: page, reverse }, guards, isIndex), (found) => {
      const last = found.at(-1);
      if (last === undefined || found.length < page || found.length === limit) return Effect.succeed(found);
      const rest = reverse ? { ...range, end: last.key } : { ...range, start: `${last.key}!` };
      return Effect.map(this.#listed(rest, limit - found.length, reverse, [], isIndex), (more) => [
        ...found,
        ...more,
      ]);
    });
  }

  /** A page of entries, read after the guards. Of an index, its records are read as well, if that takes no more rounds. */
  #page(
    range: Range,
    options: { readonly limit: number; readonly reverse: boolean },
    guards: ReadonlyArray<string>,
    isIndex: boolean,
  ): StoreEffect<ReadonlyArray<Entry>> {
    this.#rounds++;
    if (this.#kv.find === undefined || !isIndex)
      return Effect.flatMap(this.#load([], guards), () => this.#kv.list(range, options));
    const [guard = null] = guards;
    return Effect.flatMap(this.#kv.find(guard, range, options), (found) => {
      const keys = found.entries.map(({ value }) => value);
      this.#note(keys, found.named, true);
      const parts = Effect.andThen(this.#checkGuards(guards, [found.guard]), this.#loadParts(found.named));
      return Effect.as(parts, found.entries);
    });
  }

  #replace<R>(table: Table<R>, before: R | undefined, after: R | undefined): void {
    const primary = keyOf(table, table.id((after ?? before) as R));
    this.#removeParts(primary);
    if (after === undefined) this.#changes.set(primary, null);
    else this.#setText(primary, JSON.stringify(after));
    const [old, next] = [before, after].map((record) =>
      record === undefined ? noKeys : indexKeys(table, record),
    ) as [IndexKeys, IndexKeys];
    for (const key of old.entries) if (!next.entries.has(key)) this.#changes.set(key, null);
    for (const key of next.entries) if (!old.entries.has(key)) this.#changes.set(key, primary);
    for (const { guards } of [old, next]) for (const guard of guards) this.#changes.set(guard, "");
  }

  /** Stores JSON. A text that no value can hold is split into parts under keys of their own. */
  #setText(key: string, text: string): void {
    if (text.length <= partLength) {
      this.#changes.set(key, text);
      return;
    }
    // An end between two surrogates would lose both in UTF-8.
    const json = text.replace(/[\ud800-\udfff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
    const name = `${splitMark}${crypto.randomUUID()} ${Math.ceil(json.length / partLength)}`;
    for (const [index, part] of partKeys(name).entries()) {
      this.#changes.set(part, json.slice(index * partLength, (index + 1) * partLength));
    }
    this.#changes.set(key, name);
  }

  #removeParts(key: string): void {
    const text = this.#changes.has(key) ? this.#changes.get(key) : this.#seen.get(key)?.value;
    if (isSplit(text)) for (const part of partKeys(text)) this.#changes.set(part, null);
  }
}
