/**
 * Imports of many links. A batch is stored in parts, each of which is a transaction with its event. The parts share an
 * audit entry, which counts the stored changes. The last part saves the progress, so an import that was interrupted begins
 * its batch again and finds the stored parts unchanged.
 */
import type { StoreEffect, StoreUnavailable } from "@accountlink/core/errors";
import {
  type BatchImported,
  type BatchOutcome,
  findHeld,
  fixtureSource,
  type ImportBatch,
  importEffect,
  importedRecord,
  progressKeptFor,
  uploads,
} from "@accountlink/core/imports";
import { linksImported } from "@accountlink/core/journal";
import { type PortableLink } from "@accountlink/core/links";
import { assertStorable } from "@accountlink/core/storable_text";
import { Array as Arr, Effect, Order } from "effect";
import type { Database } from "../database.ts";
import { kvTable, txOf } from "../records.ts";
import { itemsOf } from "../steps.ts";
import { table } from "../table.ts";
import type { Transaction } from "../transaction.ts";
import { blockTest } from "./blocks.ts";
import { isLogOpen, logPart, type RecordChange, sumOf } from "./import_records.ts";
import { recordPart } from "./journal.ts";
import { links, takenAmong } from "./links.ts";
import { scopeAt } from "./scopes.ts";

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

/** The links of a transaction at most, so that a commit keeps others waiting for some 10 milliseconds. */
const largestPart = 200;

/** How many links of an import a transaction makes or undoes: one changes up to 24 keys, its undo included. */
export const linksOf = (db: Pick<Database, "most">, limit = largestPart): number =>
  itemsOf(db, 24, { beside: 24, limit: Math.min(limit, largestPart) });

const byChatId = Order.mapInput(Order.String, ({ chatId }: PortableLink) => chatId);

/** What the parts of a batch have stored. */
interface Stored {
  readonly counts: BatchOutcome;
  /** The sequence number of the batch's audit entry; null before the first changed record. */
  readonly entry: number | null;
}

export const importBatch = (db: Database, batch: ImportBatch): StoreEffect<BatchOutcome> =>
  Effect.gen(function* () {
    const { pid, holder } = batch;
    assertStorable([batch.progress?.source ?? ""]);
    const lines = [...new Map(batch.links.map((line) => [line.chatId, line])).values()].toSorted(byChatId);
    const parts = Arr.chunksOf(lines, linksOf(db));
    const before = [batch.at - progressKeptFor];
    const outdated = yield* db.read((tx) => tx.list(progress.byTime, [], { before, limit: 5 }));
    let stored: Stored = { counts: { inserted: 0, replaced: 0, unchanged: 0, kept: 0 }, entry: null };
    for (const [index, part] of (parts.length === 0 ? [[]] : parts).entries()) {
      const earlier = stored;
      const isContinued = batch.isContinued === true || (batch.file !== undefined && index > 0);
      stored = yield* db.write<Stored>(pid, function* (tx) {
        const held = holder && (yield* findHeld(txOf(tx), holder));
        const isLost = holder !== undefined && held === undefined;
        if (isLost || (isContinued && !(yield* isLogOpen(tx, batch)))) {
          return { ...earlier, counts: { ...earlier.counts, isEnded: true } };
        }
        const now = yield* tell(tx, batch, yield* storePart(db, tx, batch, part), earlier);
        if (index >= parts.length - 1) {
          yield* saveProgress(tx, batch, outdated);
          if (held !== undefined) yield* tx.put(kvTable(uploads), { ...held, ...sumOf(held, now.counts) });
        }
        return now;
      });
      if (stored.counts.isEnded === true) break;
    }
    return stored.counts;
  });

const storePart = Effect.fnUntraced(function* (
  db: Database,
  tx: Transaction,
  batch: ImportBatch,
  part: ReadonlyArray<PortableLink>,
) {
  const { pid } = batch;
  const { epoch } = yield* scopeAt(tx, pid);
  const counts = { inserted: 0, replaced: 0, unchanged: 0, kept: 0 };
  const isBlocked = yield* blockTest(tx, pid);
  const unblocked = part.filter((link) => !isBlocked(link));
  const taken = yield* takenAmong(db, tx, pid, unblocked);
  const admitted = unblocked.filter(({ chatId }) => !taken.has(chatId));
  counts.kept += part.length - admitted.length;
  const found = yield* tx.getAll(links, admitted, ({ chatId }) => [pid, chatId]);
  const changes: Array<RecordChange> = [];
  for (const [index, line] of admitted.entries()) {
    const stored = found[index];
    const before = stored?.epoch === epoch ? stored.link : undefined;
    const next = importedRecord(before, line, batch);
    counts[importEffect(before, next, line)]++;
    if (next === before) continue;
    changes.push({ before, next });
    yield* tx.put(links, { pid, epoch, link: next });
  }
  if (batch.file !== undefined) yield* logPart(tx, batch, batch.file, counts, changes);
  return counts;
});

/** Tells the feed and the audit log of a part. Returns the positions to store with it. */
const tell = Effect.fnUntraced(function* (
  tx: Transaction,
  batch: ImportBatch,
  part: BatchImported,
  earlier: Stored,
): Effect.fn.Return<Stored, StoreUnavailable> {
  const counts = sumOf(earlier.counts, part);
  const count = part.inserted + part.replaced;
  if (count === 0 || batch.file !== undefined) return { ...earlier, counts };
  const entry = yield* recordPart(tx, batch.pid, linksImported(batch, count, { ...counts }), earlier.entry);
  return { counts, entry };
});

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
