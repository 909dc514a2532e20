/** The port of a key-value store, in promises: what an adapter implements. */

/** The keys between two others, without these, in the order of their UTF-16 code units. */
export interface KeyRange {
  readonly after: string;
  readonly before: string;
  /** The most entries to return; fewer only if there are no more. */
  readonly limit: number;
}

export type KeyValueEntry = readonly [key: string, value: string];

/** Writes that happen together if a key still holds a value. */
export interface KeyValueCommit {
  /** The key that must hold `value`; null if it must not exist. */
  readonly check: { readonly key: string; readonly value: string | null };
  /** Distinct keys with their new values; null deletes. */
  readonly writes: ReadonlyArray<readonly [key: string, value: string | null]>;
}

/**
 * Keys and values are text. Keys consist of `0-9A-Za-z_~-` in parts that are separated by `/`; they are case-sensitive.
 *
 * A rejected promise becomes a 503 that clients may repeat. A read sees every commit that had ended when it began, of
 * any process that writes to the store.
 */
export interface KeyValueStore {
  /**
   * How many writes a commit can have, at least 1; any number when left out. Larger ones go through a journal in the
   * store, which costs a few more commits.
   */
  readonly largestCommit?: number;

  /** The values of keys, in their order; null for a key that does not exist. */
  readonly get: (keys: ReadonlyArray<string>) => Promise<ReadonlyArray<string | null>>;

  /** The first entries of a range, in the order of their keys. */
  readonly list: (range: KeyRange) => Promise<ReadonlyArray<KeyValueEntry>>;

  /**
   * Writes all or nothing, durably. False, without any change, if the check fails. Of two commits with one check at most
   * one succeeds, also of two processes.
   */
  readonly commit: (commit: KeyValueCommit) => Promise<boolean>;

  /** Called once, after the last other call. */
  readonly close?: () => Promise<void>;
}
