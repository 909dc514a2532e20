/** Stores the parts of batches, with what they did to links. */
import { Effect } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId } from "../ids.ts";
import { linksImported } from "../journal/mod.ts";
import type { LinkRecord } from "../links/link.ts";
import type { PortableLink } from "../links/link_store.ts";
import {
  type BatchImported,
  type ImportableLink,
  type ImportBatch,
  type ImportedFile,
  noneImported,
  sumOf,
  undoableFor,
} from "./import_store.ts";
import { isUntouched, madeLink } from "./imported_record.ts";
import {
  type ImportedLink,
  type ImportTx,
  importedLinks,
  type LinkImport,
  linkImports,
} from "./link_imports.ts";
import { madeBy, openAmong } from "./stored_imports.ts";

interface PartOfImport {
  /** The stored import of the file; undefined before its first part. */
  readonly stored: LinkImport | undefined;
  /** The links that the scope admits. */
  readonly links: ReadonlyArray<ImportableLink>;
}

/**
 * Begins a part of a batch: returns the stored import of its file, and the links that the scope admits. Returns null if
 * the data of the scope was deleted since an earlier part. @internal
 */
export const beginPart = Effect.fnUntraced(function* (
  tx: ImportTx,
  { pid, file }: ImportBatch,
  links: ReadonlyArray<ImportableLink>,
  isContinued: boolean,
): Effect.fn.Return<PartOfImport | null, StoreUnavailable> {
  const stored = file && (yield* tx.get(linkImports, file.id));
  if (isContinued && (stored === undefined || stored.endsAt === 0)) return null;
  const unblocked = yield* tx.unblocked(pid, links);
  const holders = yield* tx.holders(pid, unblocked, []);
  const held = unblocked.filter(({ chatId }) => holders.has(chatId)).map(({ chatId }) => chatId);
  const records = held.length === 0 ? new Map<ChatId, LinkRecord>() : yield* tx.records(pid, held);
  // A link that is there is no second one, whoever else has its game user.
  const isTaken = ({ chatId, gameId }: PortableLink) =>
    holders.has(chatId) && records.get(chatId)?.gameId !== gameId;
  return { stored, links: unblocked.filter((link) => !isTaken(link)) };
});

/** Records the links that a part found as another import had made them, so that an undo of that one leaves them. */
const recordFound = Effect.fnUntraced(function* (
  tx: ImportTx,
  { pid, at }: ImportBatch,
  importId: string,
  links: ReadonlyArray<PortableLink>,
) {
  const open = yield* openAmong(tx, yield* tx.list(linkImports.byScope, [pid]), at);
  const others = open.filter(({ id }) => id !== importId);
  if (others.length === 0) return;
  const chatIds = links.map(({ chatId }) => chatId);
  const records = yield* tx.records(pid, chatIds);
  let left = links.filter(({ chatId, gameId }) => records.get(chatId)?.gameId === gameId);
  const found: Array<ImportedLink> = [];
  for (const other of others) {
    const made = yield* madeBy(tx, [other], left);
    const isMade = ({ chatId }: PortableLink) =>
      made.get(chatId)?.some((one) => isUntouched(one, records.get(chatId))) === true;
    for (const link of left.filter(isMade)) {
      const record = records.get(link.chatId);
      if (record !== undefined) found.push(madeLink(importId, record, record, undefined));
    }
    left = left.filter((link) => !isMade(link));
  }
  yield* tx.putAll(importedLinks, found);
});

/** Adds the counts of a part to the stored import of its file, and to the audit entry. @internal */
export const logPart = Effect.fnUntraced(function* (
  tx: ImportTx,
  batch: ImportBatch,
  { id, name, isUndoable }: ImportedFile,
  { stored, links }: PartOfImport,
  part: BatchImported,
) {
  const { pid, at } = batch;
  if (isUndoable && part.unchanged > 0) yield* recordFound(tx, batch, id, links);
  const begun = { id, pid, name, importedAt: at, endsAt: at + undoableFor };
  const none = { ...noneImported, entry: null, undoEntry: null, removed: 0, restored: 0, undoneAt: null };
  const before: LinkImport = stored ?? { ...begun, ...none };
  const counts = sumOf(before, part);
  const count = part.inserted + part.replaced;
  const told = linksImported(batch, count, { file: name, ...counts });
  const entry = yield* tx.journalPart(pid, told, before.entry, count > 0);
  yield* tx.put(linkImports, { ...before, ...counts, entry });
});
