/** The port of stores that are written once for all storages. */
import { Array as Arr, Context, Effect, Layer, type Option } from "effect";
import type { Account } from "../account.ts";
import type { Actor, AuditAction, AuditEntry, WriteContext, WriteOrigin } from "../audit/audit.ts";
import type { DataScope, ScopeTarget } from "../data_scope.ts";
import type { Conflict, StoreEffect, StoreUnavailable } from "../errors.ts";
import type { Keyed } from "../idempotency/idempotency_store.ts";
import type { ChatId, GameId, KeyId, Pid } from "../ids.ts";
import type { ConfiguredScope, ScopeSettings } from "../scope_settings.ts";
import type { Millis } from "../timestamp.ts";
import type { AccountId, RecordIndex, RecordType } from "./record_type.ts";

export type KeyPart = string | number;

export interface ListOptions {
  /** The most records; all if left out. */
  readonly limit?: number;
  readonly reverse?: boolean;
  /** Bounds of all further fields, which sort in one direction. */
  readonly before?: ReadonlyArray<KeyPart>;
  readonly after?: ReadonlyArray<KeyPart>;
}

export interface CountOptions extends Pick<ListOptions, "after"> {
  /** More records may count as this number. */
  readonly most?: number;
}

/** What a record keeps of the stored one with its key. */
export interface Merging<Field extends string = string> {
  /** Fields that become the sums of both records. */
  readonly sums?: ReadonlyArray<Field>;
  /** Fields of the stored record that remain. */
  readonly kept?: ReadonlyArray<Field>;
  /** The stored record remains if this field of it is greater. */
  readonly latest?: Field;
}

/** The share of its time that a lease lasts at least: a store renews only leases that last no longer. @internal */
export const leaseShare = 0.7;

/** `hold` and `forEachPart` read this many records at once, so that the process does other work between steps. @internal */
export const heldAtOnce = 500;

/** The parameters of `hold`, which renews a node's lease, takes free items, and returns all items of the node. */
export interface HoldItems {
  readonly node: string;
  readonly at: Millis;
  /**
   * When the lease ends, after `leaseShare` of its time at the earliest. The node releases all its items if this time is
   * not after `at`, the time of the call.
   */
  readonly until: Millis;
  /** How many further items to take at most. */
  readonly limit: number;
  /**
   * What the node held at an earlier call, which is returned if its lease has lasted since, it takes nothing, and no other
   * process may have changed it without a signal.
   */
  readonly known?: ReadonlyArray<unknown>;
}

export interface KnownScope extends ConfiguredScope {
  readonly isActive: boolean;
}

export interface KnownAccount extends Account {
  readonly id: AccountId;
}

/** A change of an account itself. */
export interface AccountWrite extends WriteOrigin {
  readonly pid: null;
  readonly account: AccountId;
  readonly at: Millis;
}

/** What happened, as the journal stores it: a `JournalRecord`. */
export interface Journaled {
  readonly at: Millis;
  readonly action: string;
  /** Null for what only the feed tells, such as the end of a session. */
  readonly actor: Actor | null;
  readonly requestId: string | null;
  /** What the audit log says. */
  readonly details: AuditEntry["details"];
  /** Null for what only the team reads. */
  readonly event: {
    /** `evt_` and a ULID. An event has the same ID in the feed and in webhooks. */
    readonly id: string;
    /** What the event says besides what follows from the details. Without an actor, all that the event says. */
    readonly fields: Readonly<Record<string, string | number | boolean | null>>;
  } | null;
}

/** A transaction. What a write reads by a key holds until its end. */
export interface Tx {
  /** How `Effect.all` makes reads that do not need each other: at once where each is a way to a server. */
  readonly atOnce: { readonly concurrency: 1 | "unbounded" };
  readonly get: <R extends object>(
    type: RecordType<R>,
    ...key: ReadonlyArray<KeyPart>
  ) => StoreEffect<R | undefined>;
  readonly getAll: <R extends object>(
    type: RecordType<R>,
    keys: ReadonlyArray<ReadonlyArray<KeyPart>>,
  ) => StoreEffect<ReadonlyArray<R>>;
  /** Returns the records of an index whose first fields have these values, in the order of the index. */
  readonly list: <R extends object>(
    index: RecordIndex<R>,
    prefix: ReadonlyArray<KeyPart>,
    options?: ListOptions,
  ) => StoreEffect<ReadonlyArray<R>>;
  /** Returns the records behind each prefix of texts, in the order of the index, which has no `either`. */
  readonly listAll: <R extends object>(
    index: RecordIndex<R>,
    prefixes: ReadonlyArray<ReadonlyArray<string>>,
    options?: ListOptions,
  ) => StoreEffect<ReadonlyArray<R>>;
  /** Returns the first record of an index for each prefix of texts. */
  readonly firsts: <R extends object>(
    index: RecordIndex<R>,
    prefixes: ReadonlyArray<ReadonlyArray<string>>,
  ) => StoreEffect<ReadonlyArray<R | undefined>>;
  /**
   * Returns the records of an account, of a type with `isOfAccount`, in the order of their keys.
   *
   * @param limit the most records; not for a type with `isOfScope`
   */
  readonly ofAccount: <R extends object>(
    type: RecordType<R>,
    account: string,
    limit?: number,
  ) => StoreEffect<ReadonlyArray<R>>;
  readonly count: (
    index: RecordIndex,
    prefix: ReadonlyArray<KeyPart>,
    options?: CountOptions,
  ) => StoreEffect<number>;
  /** Stores a new record. An existing key, and text that `isStorable` refuses, are defects. */
  readonly create: <R extends object>(type: RecordType<R>, record: R) => StoreEffect<void>;
  /** Stores a new record. Returns false if its key, or its place in an index that `isUnique`, is taken. */
  readonly claim: <R extends object>(type: RecordType<R>, record: R) => StoreEffect<boolean>;
  /** Stores a record in place of the one with its key. */
  readonly put: <R extends object>(type: RecordType<R>, record: R) => StoreEffect<void>;
  /** Stores records whose keys differ, as `put` does. */
  readonly putAll: <R extends object>(type: RecordType<R>, records: ReadonlyArray<R>) => StoreEffect<void>;
  /** Stores records whose keys differ. Where a key has a record, the two become one. */
  readonly mergeAll: <R extends object>(
    type: RecordType<R>,
    records: ReadonlyArray<R>,
    merging: Merging<keyof R & string>,
  ) => StoreEffect<void>;
  /** Deletes the record with a key, and returns it. */
  readonly remove: <R extends object>(
    type: RecordType<R>,
    ...key: ReadonlyArray<KeyPart>
  ) => StoreEffect<R | undefined>;
  /** Deletes the records with these keys, and returns those that existed. */
  readonly removeAll: <R extends object>(
    type: RecordType<R>,
    keys: ReadonlyArray<ReadonlyArray<KeyPart>>,
  ) => StoreEffect<ReadonlyArray<R>>;
  /**
   * Deletes the records of an index, which has a `group`, behind prefixes, and returns them. A storage with bounded writes
   * leaves what exceeds `mostWritten`.
   */
  readonly removeOf: <R extends object>(
    index: RecordIndex<R>,
    prefixes: ReadonlyArray<ReadonlyArray<string>>,
  ) => StoreEffect<ReadonlyArray<R>>;
  /** Writes to the audit log of a scope or an account. */
  readonly journal: (
    write: WriteContext | AccountWrite,
    action: AuditAction,
    details: AuditEntry["details"],
  ) => StoreEffect<unknown>;
  /** Adds records to the journal of a scope. */
  readonly tell: (pid: Pid, records: ReadonlyArray<Journaled>) => StoreEffect<unknown>;
  /** Reads the link records of chat users in a scope. A write waits for unlinks and erasures of the chat users. */
  readonly linked: (
    pid: Pid,
    chatIds: ReadonlyArray<ChatId>,
  ) => StoreEffect<ReadonlyMap<ChatId, { readonly gameId: GameId | null; readonly linkVersion: number }>>;
  /** Returns the scopes that exist. */
  readonly scopes: (pids: ReadonlyArray<Pid>) => StoreEffect<ReadonlyMap<Pid, KnownScope>>;
  /** Reads a scope, which holds until the end of a write. */
  readonly scope: (pid: Pid) => StoreEffect<ConfiguredScope | undefined>;
  /** Returns the scopes of an account, or the one for a target. All of them hold until the end of a write. */
  readonly scopesOf: (account: string, target?: ScopeTarget) => StoreEffect<ReadonlyArray<ConfiguredScope>>;
  readonly addScope: (scope: DataScope) => StoreEffect<unknown>;
  readonly putSettings: (pid: Pid, settings: ScopeSettings) => StoreEffect<unknown>;
  /** Returns the ID of an account, undefined if it is known not to exist. */
  readonly accountId: (name: string) => StoreEffect<AccountId | undefined>;
  /** Reads an account, which holds until the end of a write. */
  readonly account: (name: string) => StoreEffect<KnownAccount | undefined>;
  /** Returns the accounts that exist. */
  readonly accounts: (ids: ReadonlyArray<AccountId>) => StoreEffect<ReadonlyMap<AccountId, Account>>;
  /** Stores an account in place of the one with its ID, under the same name. */
  readonly putAccount: (account: KnownAccount) => StoreEffect<unknown>;
  readonly addAccount: (account: Account) => StoreEffect<KnownAccount>;
  /** Returns all accounts, by name. */
  readonly allAccounts: () => StoreEffect<ReadonlyArray<Account>>;
  /** Returns the accounts with a name or display name, which hold until the end of a write. */
  readonly accountsNamed: (name: string) => StoreEffect<ReadonlyArray<KnownAccount>>;
  /** Gives an account a pseudonym, takes its chat ID, and returns its ID from then on. */
  readonly releaseAccount: (account: KnownAccount, pseudonym: string) => StoreEffect<AccountId>;
  /** Gives audit entries of an account its pseudonym, in a step. Returns whether more may be left. */
  readonly renameEntries: (account: KnownAccount, pseudonym: string) => StoreEffect<boolean>;
  /** Ends sign-ins of members to an account until the step is over. Returns whether more may be left. */
  readonly endSignIns: (account: KnownAccount, isOver: () => boolean) => StoreEffect<boolean>;
  /** Whether the write has no room for a further record, in a storage with bounded writes. */
  readonly isFull: () => boolean;
  /** Returns false for an unknown key, unless the storage itself refuses its records. */
  readonly knowsKey: (id: KeyId) => StoreEffect<boolean>;
  /** Returns when keys were last used, without those that never were. */
  readonly lastUses: (keys: ReadonlyArray<KeyId>) => StoreEffect<ReadonlyMap<KeyId, Millis>>;
  /** Deletes when a key that is deleted was last used. */
  readonly forgetUse: (key: KeyId) => StoreEffect<unknown>;
  /** Stores when keys were last used, unless an earlier use was less than `lastUsePrecision` before. */
  readonly noteUses: (
    uses: ReadonlyArray<{ readonly key: KeyId; readonly at: Millis }>,
  ) => StoreEffect<unknown>;
  /** Counts the events of each scope after a position, of all types if none is named. */
  readonly countEvents: (
    searches: ReadonlyArray<{
      readonly pid: Pid;
      readonly after: number;
      readonly types: ReadonlyArray<string>;
    }>,
    limits: {
      /** More events may count as this number. */
      readonly most: number;
      /** How many events of all types are searched at most. */
      readonly searched: number;
    },
  ) => StoreEffect<ReadonlyArray<number>>;
}

/** The body of a transaction. It may run several times. */
export type TxBody<A> = (tx: Tx) => StoreEffect<A> | Effect.fn.Return<A, StoreUnavailable>;

export interface StoreRecords<Name extends string = string> {
  /** Reads without a transaction: two reads may see different states. */
  readonly read: <A>(name: Name, body: TxBody<A>) => StoreEffect<A>;
  /**
   * @param queue the names of what it changes: writes of one name run one by one, on all nodes. A storage that runs
   *   overtaken writes again needs only the first
   */
  readonly write: <A>(name: Name, queue: string | ReadonlyArray<string>, body: TxBody<A>) => StoreEffect<A>;
  /**
   * Makes a write that keeps its idempotency key and its answer, see `keptOutcome`.
   *
   * @param queue the name of what it changes. Nodes run writes of one name at the same time
   */
  readonly keyedWrite: <O, W extends Keyed>(
    name: Name,
    keptOf: (outcome: O, write: W) => unknown,
    queue: (write: W) => string,
    body: (tx: Tx, write: W) => Effect.fn.Return<O, StoreUnavailable>,
  ) => (write: W) => StoreEffect<O, Conflict>;
  /** Deletes the records of an index whose first fields are less than these values, in steps. */
  readonly removeBefore: (
    name: Name,
    index: RecordIndex,
    before: ReadonlyArray<KeyPart>,
  ) => StoreEffect<number>;
  /**
   * Changes any number of records in small writes, until one finds fewer than `limit`. Returns the sum of what they return.
   *
   * @param queue as of `write`
   * @param change reads the records again, since others may have changed them
   */
  readonly inSteps: <R>(
    name: Name,
    queue: string,
    find: (tx: Tx, limit: number) => StoreEffect<ReadonlyArray<R>>,
    change: (tx: Tx, found: ReadonlyArray<R>) => StoreEffect<number>,
  ) => StoreEffect<number>;
  /**
   * Renews the lease of a node, takes records of a type with `held` that no live node holds, and returns what `body` makes of
   * all that the node holds, `heldAtOnce` at a time.
   */
  readonly hold: <R extends object, A>(
    name: Name,
    type: RecordType<R>,
    hold: HoldItems,
    body: (tx: Tx, held: ReadonlyArray<R>) => Effect.fn.Return<ReadonlyArray<A>, StoreUnavailable>,
  ) => StoreEffect<ReadonlyArray<A>>;
  /** Returns the smallest ID, with a prefix, of the live nodes that work on records of a type. */
  readonly firstNode: (
    name: Name,
    type: RecordType,
    prefix: string,
    at: Millis,
  ) => StoreEffect<Option.Option<string>>;
  /** How many records a write stores at most. */
  readonly mostWritten: number;
  /** Operations of the store that the storage has statements of its own for. */
  readonly own: object;
}

/** @internal */
export const keyOf = <R extends object>({ key }: RecordType<R>, record: R): ReadonlyArray<KeyPart> =>
  key.map((field) => record[field as keyof R] as KeyPart);

/** @internal */
export const keysOfAll = <R extends object>(type: RecordType<R>, records: ReadonlyArray<R>) =>
  records.map((record) => keyOf(type, record));

/** Lists the records of an index that has the fields of the key, in parts, between which the process does other work. @internal */
export const forEachPart = Effect.fnUntraced(function* <R extends object>(
  tx: Tx,
  index: RecordIndex<R>,
  body: (part: ReadonlyArray<R>) => StoreEffect<unknown>,
) {
  for (let after: ReadonlyArray<KeyPart> | null = null; ; yield* Effect.yieldNow) {
    const options: ListOptions = { limit: heldAtOnce, ...(after !== null && { after }) };
    const part: ReadonlyArray<R> = yield* tx.list(index, [], options);
    yield* body(part);
    const last = part.at(-1);
    if (last === undefined || part.length < heldAtOnce) return;
    after = index.fields.map((field) => last[field as keyof R] as KeyPart);
  }
});

/** Deletes what `inSteps` has found, and returns how many records that were. @internal */
export const removeFound =
  <R extends object>(type: RecordType<R>) =>
  (tx: Tx, found: ReadonlyArray<R>): StoreEffect<number> =>
    Effect.map(tx.removeAll(type, keysOfAll(type, found)), Arr.length);

/** Changes up to `limit` records of an index, which it reads again. Returns whether more may be left. @internal */
export const changeSome = Effect.fnUntraced(function* <R extends object>(
  tx: Tx,
  index: RecordIndex<R>,
  prefix: ReadonlyArray<KeyPart>,
  limit: number,
  change: Partial<R>,
) {
  const found = yield* tx.list(index, prefix, { limit });
  const held = yield* tx.getAll(index.type, keysOfAll(index.type, found));
  yield* tx.putAll(
    index.type,
    held.map((record) => ({ ...record, ...change })),
  );
  return found.length === limit;
});

/**
 * Makes of records, with their scopes, what a store returns. Leaves out records without a scope and, if `isActive`, those
 * of suspended accounts. @internal
 */
export const withScopes = Effect.fnUntraced(function* <R extends { readonly pid: Pid }, A>(
  tx: Tx,
  records: ReadonlyArray<R>,
  make: (record: R, scope: DataScope) => A,
  isActive = false,
) {
  const scopes = yield* tx.scopes([...new Set(records.map(({ pid }) => pid))]);
  return records.flatMap((record) => {
    const known = scopes.get(record.pid);
    return known === undefined || (isActive && !known.isActive) ? [] : [make(record, known.scope)];
  });
});

/** Makes the records of a store, whose name is the first part of the names of its operations. @internal */
export class Records extends Context.Service<Records, (store: string) => StoreRecords>()(
  "@accountlink/core/Records",
) {}

/** Makes the layer of a storage port that is written once, but for `Own`. Operations are named after the port. @internal */
export const recordStore = <Port, Store extends object, Own extends keyof Store = never>(
  port: Context.Service<Port, Store>,
  make: (records: StoreRecords<keyof Store & string>) => Omit<Store, Own>,
): Layer.Layer<Port, never, Records> =>
  Layer.effect(
    port,
    Effect.map(Records, (recordsOf) => {
      const records = recordsOf(port.key.slice(port.key.lastIndexOf("/") + 1));
      return { ...make(records), ...records.own } as Store;
    }),
  );
