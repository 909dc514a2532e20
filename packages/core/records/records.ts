/** The port of stores that are written once for all storages. */
import { Context, Effect, Layer } from "effect";
import type { AuditAction, AuditEntry, WriteContext } from "../audit/audit.ts";
import type { Conflict, StoreEffect, StoreUnavailable } from "../errors.ts";
import type { Keyed } from "../idempotency/idempotency_store.ts";
import type { ChatId, GameId, Pid } from "../ids.ts";
import type { RecordIndex, RecordType } from "./record_type.ts";

export type KeyPart = string | number;

export interface ListOptions {
  /** The most records; all if left out. */
  readonly limit?: number;
  readonly reverse?: boolean;
  /** Lists records behind these values of all further fields, which sort in one direction. */
  readonly after?: ReadonlyArray<KeyPart>;
}

/** A transaction. What a write reads by a key holds until its end. */
export interface Tx {
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
  readonly count: (
    index: RecordIndex,
    prefix: ReadonlyArray<KeyPart>,
    options?: Pick<ListOptions, "after">,
  ) => StoreEffect<number>;
  /** Stores a new record. An existing key, and text that `isStorable` refuses, are defects. */
  readonly create: <R extends object>(type: RecordType<R>, record: R) => StoreEffect<void>;
  /** Stores a record in place of the one with its key. */
  readonly put: <R extends object>(type: RecordType<R>, record: R) => StoreEffect<void>;
  /** Deletes the record with a key, and returns it. */
  readonly remove: <R extends object>(
    type: RecordType<R>,
    ...key: ReadonlyArray<KeyPart>
  ) => StoreEffect<R | undefined>;
  /** Writes to the audit log of a scope. */
  readonly journal: (
    write: WriteContext,
    action: AuditAction,
    details: AuditEntry["details"],
  ) => StoreEffect<unknown>;
  /** Reads the link records of chat users in a scope. A write waits for unlinks and erasures of the chat users. */
  readonly linked: (
    pid: Pid,
    chatIds: ReadonlyArray<ChatId>,
  ) => StoreEffect<ReadonlyMap<ChatId, { readonly gameId: GameId | null; readonly linkVersion: number }>>;
}

/** The body of a transaction. It may run several times. */
export type TxBody<A> = (tx: Tx) => StoreEffect<A> | Effect.fn.Return<A, StoreUnavailable>;

export interface StoreRecords<Name extends string = string> {
  /** Reads without a transaction: two reads may see different states. */
  readonly read: <A>(name: Name, body: TxBody<A>) => StoreEffect<A>;
  /** @param queue the name of what it changes: writes of one name run one by one, on all nodes */
  readonly write: <A>(name: Name, queue: string, body: TxBody<A>) => StoreEffect<A>;
  /**
   * Makes a write of a scope that keeps its idempotency key and its answer, see `keptOutcome`. Nodes run writes of a scope
   * at the same time.
   */
  readonly keyedWrite: <O, W extends Keyed & { readonly pid: Pid }>(
    name: Name,
    keptOf: (outcome: O, write: W) => unknown,
    body: (tx: Tx, write: W) => Effect.fn.Return<O, StoreUnavailable>,
  ) => (write: W) => StoreEffect<O, Conflict>;
  /** Deletes the records of an index whose first fields are less than these values, in steps. */
  readonly removeBefore: (
    name: Name,
    index: RecordIndex,
    before: ReadonlyArray<KeyPart>,
  ) => StoreEffect<number>;
}

/** Makes the records of a store, whose name is the first part of the names of its operations. */
export class Records extends Context.Service<Records, (store: string) => StoreRecords>()(
  "@accountlink/core/Records",
) {}

/** Makes the layer of a storage port that is written once. Operations are named after the port. */
export const recordStore = <Port, Store extends object>(
  port: Context.Service<Port, Store>,
  make: (records: StoreRecords<keyof Store & string>) => Store,
): Layer.Layer<Port, never, Records> =>
  Layer.effect(
    port,
    Effect.map(Records, (recordsOf) => make(recordsOf(port.key.slice(port.key.lastIndexOf("/") + 1)))),
  );
