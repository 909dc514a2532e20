/**
 * Imports of many links. A batch is stored in parts, each of which is a transaction with its event. The parts share an
 * audit entry, which counts the stored changes. The last part saves the progress, so an import that was interrupted begins
 * its batch again and finds the stored parts unchanged.
 */
import type { StoreEffect } from "@accountlink/core/errors";
import {
  type BatchImported,
  type BatchOutcome,
  beginPart,
  findHeld,
  fixtureSource,
  type ImportableLink,
  type ImportBatch,
  type ImportedFile,
  type ImportTx,
  importEffect,
  importedLinks,
  importedRecord,
  lastOfEach,
  logPart,
  madeLink,
  noneImported,
  progressKeptFor,
  sumOf,
  uploads,
} from "@accountlink/core/imports";
import { linksImported } from "@accountlink/core/journal";
import type { LinkRecord } from "@accountlink/core/links";
import { assertStorable } from "@accountlink/core/storable_text";
import { Array as Arr, Effect } from "effect";
import type { Database } from "../database.ts";
import { table } from "../table.ts";
import type { Transaction } from "../transaction.ts";
import { importTxOf, linksOf } from "./import_tx.ts";

interface Progress {
  readonly source: string;
  readonly position: number;
  readonly savedAt: number;
}

export const progress = table<Progress>()("progress", ({ source }) => [source], {
  byTime: {
    keys: ({ source, savedAt }) => (source.startsWith(fixtureSource) ? [] : [[savedAt, source]]),
  },
});

interface Stored {
  readonly counts: BatchOutcome;
  /** The sequence number of the batch's audit entry; null before the first changed record. */
  readonly entry: number | null;
}

export const importBatch = (db: Database, batch: ImportBatch): StoreEffect<BatchOutcome> =>
  Effect.gen(function* () {
    const { pid, holder, file } = batch;
    assertStorable([batch.progress?.source ?? ""]);
    const parts = Arr.chunksOf(lastOfEach(batch.links), linksOf(db));
    const before = [batch.at - progressKeptFor];
    const outdated = yield* db.read((tx) => tx.list(progress.byTime, [], { before, limit: 5 }));
    let stored: Stored = { counts: noneImported, entry: null };
    for (const [index, part] of (parts.length === 0 ? [[]] : parts).entries()) {
      const earlier = stored;
      const isContinued = batch.isContinued === true || (file !== undefined && index > 0);
      stored = yield* db.write<Stored>(pid, function* (transaction) {
        const tx = importTxOf(db, transaction);
        const held = holder && (yield* findHeld(tx, holder));
        const isLost = holder !== undefined && held === undefined;
        const begun = isLost ? null : yield* beginPart(tx, batch, part, isContinued);
        if (begun === null) return { ...earlier, counts: { ...earlier.counts, isEnded: true } };
        const { counts: own, changes } = yield* storePart(tx, batch, begun.links);
        const imported = { ...own, kept: own.kept + part.length - begun.links.length };
        let { entry } = earlier;
        if (file === undefined) entry = yield* tell(tx, batch, imported, earlier);
        else {
          yield* logPart(tx, batch, file, begun, imported);
          if (file.isUndoable) yield* tx.putAll(importedLinks, yield* linksMade(tx, file, changes));
        }
        const counts = sumOf(earlier.counts, imported);
        if (index >= parts.length - 1) {
          yield* saveProgress(transaction, batch, outdated);
          if (held !== undefined) yield* tx.put(uploads, { ...held, ...sumOf(held, counts) });
        }
        return { counts, entry };
      });
      if (stored.counts.isEnded === true) break;
    }
    return stored.counts;
  });

interface RecordChange {
  readonly before: LinkRecord | undefined;
  readonly next: LinkRecord;
}

/** Imports links that the scope admits. */
const storePart = Effect.fnUntraced(function* (
  tx: ImportTx,
  batch: ImportBatch,
  part: ReadonlyArray<ImportableLink>,
) {
  const records = yield* tx.records(
    batch.pid,
    part.map(({ chatId }) => chatId),
  );
  const counts = { ...noneImported };
  const changes: Array<RecordChange> = [];
  for (const line of part) {
    const before = records.get(line.chatId);
    const next = importedRecord(before, line, batch);
    counts[importEffect(before, next, line)]++;
    if (next !== before) changes.push({ before, next });
  }
  yield* tx.putRecords(
    batch.pid,
    changes.map(({ next }) => next),
  );
  return { counts, changes };
});

/** Returns what a part did to links. Earlier parts of the import may have changed some of them. */
const linksMade = Effect.fnUntraced(function* (
  tx: ImportTx,
  { id }: ImportedFile,
  changes: ReadonlyArray<RecordChange>,
) {
  const keys = changes.map(({ next }) => [id, next.chatId]);
  const earlier = new Map((yield* tx.getAll(importedLinks, keys)).map((link) => [link.chatId, link]));
  return changes.map(({ before, next }) => madeLink(id, before, next, earlier.get(next.chatId)));
});

/** Tells the feed and the audit log of a part of a batch without a file. Returns the sequence of the entry. */
const tell = (tx: ImportTx, batch: ImportBatch, part: BatchImported, { counts, entry }: Stored) => {
  const count = part.inserted + part.replaced;
  if (count === 0) return Effect.succeed(entry);
  const told = linksImported(batch, count, { ...sumOf(counts, part) });
  return tx.journalPart(batch.pid, told, entry, true);
};

const saveProgress = Effect.fnUntraced(function* (
  tx: Transaction,
  { progress: made, at }: ImportBatch,
  outdated: ReadonlyArray<Progress>,
) {
  if (made === null) return;
  const { source, position } = made;
  yield* tx.put(progress, { source, position, savedAt: at });
  for (const { source: old } of outdated) if (old !== source) yield* tx.remove(progress, old);
});
