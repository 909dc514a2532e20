/** Stores imports of uploaded files, so that any node can show an import, and take it over from a dead node. */
import { Context, type Option } from "effect";
import type { StoreEffect } from "../errors.ts";
import type { Pid } from "../ids.ts";
import { hourMs, type Millis } from "../timestamp.ts";
import type { BatchImported, ImportBatch } from "./link_store.ts";

/** How long an import is stored after its last change, in milliseconds. @internal */
export const importKeptFor = hourMs;

/**
 * - `reading`: a node receives and previews the file. If the node dies, the import is lost.
 * - `ready`: the import may start.
 * - `running`: a node imports the file. If the node dies, another one takes the import.
 * - `over`: the import ended.
 */
export type ImportPhase = "reading" | "ready" | "running" | "over";

/** An import of an account, which has at most one. */
export interface StoredImport {
  readonly id: string;
  readonly account: string;
  /** The scope that receives the links; null while the file is read. */
  readonly pid: Pid | null;
  readonly phase: ImportPhase;
  /** What the pages know of the import, as JSON; empty while the file is read. */
  readonly details: string;
  /** The sum of the batches that `importBatch` has stored. */
  readonly counts: BatchImported;
}

/** A node that works on an import. */
export interface ImportHolder {
  readonly id: string;
  readonly node: string;
}

/** Makes the node the holder of an import until the time `until`, or gives the import up if `until` is `at`. */
export interface ImportHold extends ImportHolder {
  readonly at: Millis;
  readonly until: Millis;
}

export interface BeginImport extends ImportHold {
  readonly account: string;
  /**
   * The most bytes in the files of all imports. Beyond them, the oldest imports that are not running are removed, whole
   * imports only.
   */
  readonly room: number;
}

export interface SaveImport extends ImportHold, Pick<StoredImport, "pid" | "phase" | "details"> {}

export interface ImportPart {
  /** The name of one of the import's files. */
  readonly file: string;
  /** The number of the part in the file, from 0. */
  readonly part: number;
}

/** Stores imports and their files. `LinkStore.deleteScope` removes the running imports of its scope. */
export class ImportStore extends Context.Service<
  ImportStore,
  {
    /**
     * Stores a new import in place of the account's previous one. Returns false if the previous one is running, or is
     * being read by a live node.
     */
    readonly begin: (begin: BeginImport) => StoreEffect<boolean>;

    /** Stores a part of a file; part 0 replaces the whole file. Returns false if the node does not hold the import. */
    readonly append: (
      holder: ImportHolder,
      part: ImportPart & { readonly bytes: Uint8Array },
    ) => StoreEffect<boolean>;

    readonly readPart: (id: string, part: ImportPart) => StoreEffect<Option.Option<Uint8Array>>;

    /** Finds the import of an account, unless it has expired. */
    readonly find: (account: string, at: Millis) => StoreEffect<Option.Option<StoredImport>>;

    /** Stores the state, and renews the hold. Returns false if the node does not hold the import. */
    readonly save: (save: SaveImport) => StoreEffect<boolean>;

    /** Makes a `ready` import run on the node. Returns false if the import is not ready, so that it starts once. */
    readonly start: (hold: ImportHold) => StoreEffect<boolean>;

    /** Takes a running import that no live node holds. */
    readonly take: (hold: Omit<ImportHold, "id">) => StoreEffect<Option.Option<StoredImport>>;

    /**
     * Stores a batch like `LinkStore.importBatch`, and adds its counts to the import. Stores nothing and returns none if
     * the node does not hold the import, or if the import was removed.
     */
    readonly importBatch: (
      holder: ImportHolder,
      batch: ImportBatch,
    ) => StoreEffect<Option.Option<BatchImported>>;

    /** Removes an import with its files, unless it is running. Returns whether it was removed. */
    readonly remove: (id: string) => StoreEffect<boolean>;

    /** Removes expired imports. */
    readonly sweep: (at: Millis) => StoreEffect<void>;
  }
>()("@accountlink/core/ImportStore") {}
