/** What imports did, for their audit entries and their undo. */
import type { ChatId, Pid } from "@accountlink/core";
import {
  type BatchImported,
  type ImportBatch,
  type ImportedFile,
  type ImportUndone,
  isSameImport,
  type MadeRecord,
  type RecordBefore,
  restorable,
  type UndoableImport,
  undoableFor,
} from "@accountlink/core/imports";
import { linksImported } from "@accountlink/core/journal";
import { type LinkRecord } from "@accountlink/core/links";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect } from "effect";
import { table } from "../table.ts";
import type { Transaction } from "../transaction.ts";
import { recordPart } from "./journal.ts";
import { scopeAt } from "./scopes.ts";

/** What the batches of one file did in an epoch of its scope. */
export interface LinkImport extends Pick<UndoableImport, "id" | "pid" | "name" | "importedAt" | "endsAt"> {
  readonly epoch: number;
  readonly account: number;
  readonly counts: BatchImported;
  /** The sequence number of the audit entry; null before the first changed record. */
  readonly entry: number | null;
  /** `isDone` is left out in undos of earlier releases. */
  readonly undone:
    | (Omit<ImportUndone, "isDone"> & { readonly entry: number; readonly isDone?: boolean })
    | null;
}

export const linkImports = table<LinkImport>()("link_import", ({ id }) => [id], {
  /** The newest import first. */
  byAccount: { keys: ({ account, importedAt, id }) => [[account, -importedAt, id]] },
  byScope: { keys: ({ pid, epoch, id }) => [[pid, epoch, id]] },
  byEnd: { keys: ({ endsAt, id }) => [[endsAt, id]] },
  /** The undos that may have links left. */
  undoing: {
    keys: ({ endsAt, id, undone }) => (undone === null || undone.isDone === true ? [] : [[endsAt, id]]),
  },
});

/** What an import did to one chat user. */
export interface MadeLink {
  readonly pid: Pid;
  readonly epoch: number;
  /** The ID of the import. */
  readonly id: string;
  readonly chatId: ChatId;
  readonly made: MadeRecord;
  readonly before?: RecordBefore | undefined;
}

export const madeLinks = table<MadeLink>()(
  "made_link",
  ({ pid, epoch, id, chatId }) => [pid, epoch, id, chatId],
  { byUser: { keys: ({ pid, epoch, id, chatId }) => [[chatId, pid, epoch, id]], group: 1 } },
  3,
);

export const madeBy = ({ pid, epoch, id }: LinkImport) => [pid, epoch, id] as const;

/** A record that a batch changed. */
export interface RecordChange {
  readonly before: LinkRecord | undefined;
  readonly next: LinkRecord;
}

export const sumOf = (one: BatchImported, other: BatchImported): BatchImported => ({
  inserted: one.inserted + other.inserted,
  replaced: one.replaced + other.replaced,
  unchanged: one.unchanged + other.unchanged,
  kept: one.kept + other.kept,
});

/** Returns whether a part of the file was logged, and the data of its scope was not deleted since. */
export const isLogOpen = Effect.fnUntraced(function* (tx: Transaction, { pid, file }: ImportBatch) {
  const { epoch } = yield* scopeAt(tx, pid);
  return (yield* tx.get(linkImports, file?.id ?? ""))?.epoch === epoch;
});

/** Logs a part of a batch in the entry of its file. */
export const logPart = Effect.fnUntraced(function* (
  tx: Transaction,
  batch: ImportBatch,
  { id, name, isUndoable }: ImportedFile,
  added: BatchImported,
  changes: ReadonlyArray<RecordChange>,
) {
  assertStorable([id, name]);
  const { pid, at } = batch;
  const { account, epoch } = yield* scopeAt(tx, pid);
  const stored = yield* tx.get(linkImports, id);
  const before = stored?.epoch === epoch ? stored : undefined;
  const counts = before === undefined ? added : sumOf(before.counts, added);
  const count = added.inserted + added.replaced;
  const imported = linksImported(batch, count, { file: name, ...counts });
  const entry = yield* recordPart(tx, pid, imported, before?.entry ?? null, count > 0);
  const begun = { id, pid, epoch, account, name, importedAt: at, endsAt: at + undoableFor };
  const undone = before?.undone ? { ...before.undone, isDone: false } : null;
  const after: LinkImport = { ...begun, ...before, counts, entry, undone };
  yield* tx.put(linkImports, after);
  if (isUndoable) yield* putMade(tx, after, changes);
});

/** Stores the links that a part made. Earlier batches of the import may have made some of the same chat users. */
const putMade = Effect.fnUntraced(function* (
  tx: Transaction,
  { pid, epoch, id }: LinkImport,
  changes: ReadonlyArray<RecordChange>,
) {
  const found = yield* tx.getAll(madeLinks, changes, ({ next }) => [pid, epoch, id, next.chatId]);
  for (const [index, { before, next }] of changes.entries()) {
    const earlier = found[index];
    const isOwn = earlier !== undefined && before !== undefined && isSameImport(earlier.made, before);
    const { chatId, gameId, linkVersion, lastVerifiedAt } = next;
    const made = { gameId, linkVersion, lastVerifiedAt };
    yield* tx.put(madeLinks, {
      pid,
      epoch,
      id,
      chatId,
      made,
      before: isOwn ? earlier.before : restorable(before),
    });
  }
});
