import type { StoreEffect } from "@accountlink/core/errors";

/** The most checks of a commit. */
export const maxChecks = 100;

/** The most changes of a commit that every engine makes. */
export const maxChanges = 1_000;

/** The fewest changes that a commit of an engine has to have room for: the stores keep to it, step by step. */
export const minChanges = 100;

/** The most characters of a key, all of which are printable ASCII. */
export const maxKeyLength = 1_900;

/** The most bytes of a value in UTF-8. */
export const maxValueBytes = 65_536;

/** A stored value. Its version is another one after each commit that sets the key. */
export interface Entry {
  readonly key: string;
  readonly value: string;
  readonly version: string;
}

/** The keys from `start` up to `end`, which is not included. Keys sort by character. */
export interface Range {
  readonly start: string;
  readonly end: string;
}

/** The version that a key must have; null for a key that must be absent. */
export interface Check {
  readonly key: string;
  readonly version: string | null;
}

/** The new value of a key; null deletes the key. */
export interface Change {
  readonly key: string;
  readonly value: string | null;
}

/** What `find` reads, as of one moment. */
export interface Found {
  readonly guard: Entry | null;
  readonly entries: ReadonlyArray<Entry>;
  /** The entries whose keys are the values of `entries`, in their order; absent ones are null. */
  readonly named: ReadonlyArray<Entry | null>;
}

/**
 * A store of texts by keys, the port of an engine. An operation sees every commit that was answered before it began.
 */
export interface Kv {
  /**
   * The most changes of a commit, at least `minChanges`, and `maxChanges` if left out. An import of links is one commit up to a 24th of it.
   */
  readonly maxChanges?: number;

  /** Reads keys as of one moment. The answer has the order of the keys; absent keys are null. */
  readonly get: (keys: ReadonlyArray<string>) => StoreEffect<ReadonlyArray<Entry | null>>;

  /** Returns up to `limit` entries of a range, sorted by key, or from the last one if `reverse`. */
  readonly list: (
    range: Range,
    options: { readonly limit: number; readonly reverse: boolean },
  ) => StoreEffect<ReadonlyArray<Entry>>;

  /**
   * Returns the first keys of a range. Left out if the engine reads keys at no lower cost than entries. On Redis, four
   * lists of 1,000 links take 4 ms by their keys and 14 ms by their entries.
   */
  readonly keys?: (range: Range, limit: number) => StoreEffect<ReadonlyArray<string>>;

  /**
   * Reads the key `guard`, a range as `list` does, and the entries that its values name. Left out if the engine answers
   * three reads as soon as one. On Redis, each is a way to the server and back.
   */
  readonly find?: (
    guard: string | null,
    range: Range,
    options: { readonly limit: number; readonly reverse: boolean },
  ) => StoreEffect<Found>;

  /** Counts the keys of a range. */
  readonly count: (range: Range) => StoreEffect<number>;

  /**
   * Makes all changes if all checks hold, else none. Returns whether the checks held. Has at most `maxChecks` checks, and
   * no key twice. If the engine fails, the changes are made or not, but never in part.
   */
  readonly commit: (checks: ReadonlyArray<Check>, changes: ReadonlyArray<Change>) => StoreEffect<boolean>;
}
