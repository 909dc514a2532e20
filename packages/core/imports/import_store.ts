/** Stores what imports do to links. */
import { Context, Schema } from "effect";
import type { WriteContext } from "../audit/audit.ts";
import type { StoreEffect } from "../errors.ts";
import type { ChatId, Pid } from "../ids.ts";
import type { LinkProof, PortableLink } from "../links/mod.ts";
import { dayMs, type Millis } from "../timestamp.ts";

/** A node that works on an import. */
export interface ImportHolder {
  readonly id: string;
  readonly node: string;
}

/** How long the progress of an import is kept after its last batch, in milliseconds. @internal */
export const progressKeptFor = 30 * dayMs;

/** The start of sources whose progress is kept forever, because a fixture is loaded only once. @internal */
export const fixtureSource = "fixture:";

/** The bounds of the sources whose progress the deletion of a scope removes: the files that it imported. @internal */
export const fileSources = (pid: Pid) => ({ from: `file:${pid}:`, before: `file:${pid};` });

/** The file that an import reads. Its batches share one audit entry. */
export interface ImportedFile {
  /** The ID of the import, which every batch names. */
  readonly id: string;
  /** The name of the file, for the audit entry. */
  readonly name: string;
  /** Whether `ImportStore.undo` can take back what the import changes. */
  readonly isUndoable: boolean;
}

export interface ImportableLink extends PortableLink {
  /** Whether the file has no time of verification, so that the link is not `newest`. It is stored with the time given. */
  readonly isUntimed?: boolean;
}

export interface ImportBatch extends WriteContext {
  /** If left out, the batch has an audit entry of its own. */
  readonly file?: ImportedFile | undefined;
  /** Who works on the stored import that the batch belongs to; left out for a batch of no stored import. */
  readonly holder?: ImportHolder | undefined;
  /**
   * Whether an earlier batch of the file was stored. If the scope's data was deleted since, nothing is stored, and the
   * result is `isEnded`.
   */
  readonly isContinued?: boolean;
  readonly links: ReadonlyArray<ImportableLink>;
  /**
   * What happens to the record that a chat user already has. `keep` leaves it, `replace` replaces it, and `newest`
   * replaces it if the imported link was verified after the record was last changed or confirmed.
   */
  readonly existing: "keep" | "replace" | "newest";
  /** How the links were confirmed: `import`, or null for a fixture. */
  readonly proof: LinkProof;
  /**
   * How far the import has come. Stored together with the batch, so that an interrupted import continues after its last
   * batch. Progress older than `progressKeptFor` is deleted, except for a `fixtureSource`. If null, no progress is
   * stored.
   */
  readonly progress: { readonly source: string; readonly position: number } | null;
}

/** @internal */
export const importCounts = {
  inserted: Schema.Int,
  /** Records that changed. A record counts even if only its `lastVerifiedAt` changed. */
  replaced: Schema.Int,
  /** Records that already have the batch's game user. */
  unchanged: Schema.Int,
  /** Records that differ from the batch, but were not changed: they keep their game user, or stay without a link. */
  kept: Schema.Int,
};

/** How many records of chat users a batch of an import inserted, replaced, or did not change. */
export type BatchImported = { readonly [Count in keyof typeof importCounts]: number };

/** @internal */
export const noneImported: BatchImported = { inserted: 0, replaced: 0, unchanged: 0, kept: 0 };

/** @internal */
export const sumOf = (one: BatchImported, other: BatchImported): BatchImported => ({
  inserted: one.inserted + other.inserted,
  replaced: one.replaced + other.replaced,
  unchanged: one.unchanged + other.unchanged,
  kept: one.kept + other.kept,
});

export interface BatchOutcome extends BatchImported {
  /**
   * Whether nothing more was stored, because the scope's data was deleted after an earlier batch, or because the node
   * does not hold the import in `UploadStore`.
   */
  readonly isEnded?: boolean;
}

/** The outcome of a batch of which nothing was stored, because its import has ended. @internal */
export const importEnded: BatchOutcome = { ...noneImported, isEnded: true };

/** How long after its first batch the undo of an import can begin, in milliseconds. @internal */
export const undoableFor = dayMs;

/** How many imports of a scope can be undone, the last ones. @internal */
export const undoableImports = 3;

/** The imports of an account and their undos change at most so many times its plan's links in a day. @internal */
export const changesOfPlan = 3;

/** An import that can be undone. */
export interface UndoableImport {
  readonly id: string;
  readonly pid: Pid;
  /** The name of the imported file. */
  readonly name: string;
  readonly importedAt: Millis;
  /** The time from which its undo can't begin. */
  readonly endsAt: Millis;
  /** The number of links that it inserted or changed. */
  readonly links: number;
  /** What `undo` has done so far; null before the first one. */
  readonly undone: ImportUndone | null;
}

export interface UndoImport extends WriteContext {
  readonly id: string;
  /** The most links of the import that one call takes. With 0, the undo only begins. */
  readonly limit: number;
}

/** A link that an undo would take back. */
export interface UndoableLink {
  readonly chatId: ChatId;
  /** Whether the undo removes it; otherwise it is as before the import again. */
  readonly isRemoved: boolean;
}

/** Part of the links that an undo would take back. */
export interface UndoablePage {
  readonly links: ReadonlyArray<UndoableLink>;
  /** The number of the other links, which an undo leaves as they are. */
  readonly kept: number;
  /** The number of these that a later import found unchanged, which are that import's after the undo. */
  readonly given: number;
  /** The chat ID after which the next page begins; null on the last page. */
  readonly next: ChatId | null;
}

/** How many undos a look reads: thousands may have begun in a day, most of which have no links left. @internal */
export const undosAtOnce = 500;

/** A place in the order of the undos that have begun. */
export type UndoPlace = readonly [endsAt: Millis, entry: number, id: string];

/** An undo that has begun and has links left. Its node works on it, or died. */
export interface UnfinishedUndo extends Pick<UndoableImport, "id" | "pid"> {
  readonly account: string;
  /** The number of links that it has taken back. */
  readonly done: number;
}

/** A page of `unfinishedUndos`. */
export interface UnfinishedUndos {
  readonly undos: ReadonlyArray<UnfinishedUndo>;
  /** The place after which the next page begins; null on the last page. */
  readonly next: UndoPlace | null;
}

export interface ImportUndone {
  /** Links that the import made, and that are removed. */
  readonly removed: number;
  /** Links that the import replaced, and that are as before the import. */
  readonly restored: number;
  /** Whether the import has no links left. */
  readonly isDone: boolean;
}

/**
 * Stores what imports do to links, and what undoes it. Every operation but `sweep` is atomic, and text that `isStorable`
 * refuses is a defect. `LinkStore.deleteScope` removes what would undo imports of its scope.
 */
export class ImportStore extends Context.Service<
  ImportStore,
  {
    /**
     * Stores many links of an import, but keeps the records of blocked users, and of those whose line names the game user
     * of another chat user in a scope that allows one. Up to 3 links are stored all or none. Where
     * transactions have a limit, more are stored in parts, and `progress` with the last part, so that a repeated batch
     * stores the rest. If a chat user occurs twice, the last link counts. If the batch inserts or replaces any record,
     * one audit entry contains the returned counts; batches of one `file` share the entry, which contains their sums.
     * Records get no entry of their own, because an import may have millions.
     *
     * The counts are added to the import of `holder` in `UploadStore`. Stores nothing and returns `isEnded` if the node
     * does not hold that import, or if it was removed.
     */
    readonly importBatch: (batch: ImportBatch) => StoreEffect<BatchOutcome>;

    /**
     * Returns the stored position of an import: how many rows of its source were read up to the last stored batch.
     * Returns 0 if no position is stored.
     */
    readonly importPosition: (source: string) => StoreEffect<number>;

    /** Stores the position of a source that may have no links. */
    readonly savePosition: (source: string, position: number, at: Millis) => StoreEffect<void>;

    /** Returns the imports of an account that can be undone, newest first: the last `undoableImports` of each scope. */
    readonly listUndoable: (account: string, at: Millis) => StoreEffect<ReadonlyArray<UndoableImport>>;

    /** Looks at up to `limit` undos that have begun, after a place, and returns those that have links left. */
    readonly unfinishedUndos: (after: UndoPlace | null, limit: number) => StoreEffect<UnfinishedUndos>;

    /**
     * Looks at up to `limit` links of an import after a chat ID, sorted by chat ID as strings, and returns those that
     * `undo` would take back.
     */
    readonly undoablePage: (id: string, after: ChatId | null, limit: number) => StoreEffect<UndoablePage>;

    /**
     * Takes back what an import did to its next `limit` links, in one transaction: removes the links that it made, and
     * restores those that it replaced. Links that somebody changed since stay, and so do links that a later import found
     * unchanged, which are that import's from then on. Links whose users were blocked
     * since, or whose game user another chat user has in a scope that allows one, are not restored. If that chat user has
     * it by the import, the link is taken back at once. Adds the counts to one audit entry, and appends the event
     * `links.imported`, so that readers list anew.
     */
    readonly undo: (write: UndoImport) => StoreEffect<ImportUndone>;

    /** Counts the changes of links by imports of an account in the last day, and by their undos. */
    readonly countChanges: (account: string, at: Millis) => StoreEffect<number>;

    /** Removes what undoes imports after its time, unless their undo has begun and has links left. */
    readonly sweep: (at: Millis) => StoreEffect<void>;
  }
>()("@accountlink/core/ImportStore") {}
