/** Imports of many links. A batch is stored in parts, each of which is a transaction; the last one has its event. */
import type { StoreEffect } from "@accountlink/core/errors";
import { newEvent, sourceOf } from "@accountlink/core/events";
import {
  type BatchImported,
  type BatchOutcome,
  fixtureSource,
  type ImportBatch,
  importEffect,
  importedRecord,
  type PortableLink,
  progressKeptFor,
} from "@accountlink/core/links";
import { assertStorable } from "@accountlink/core/storable_text";
import { Array as Arr, Effect, Order } from "effect";
import { maxChanges } from "../kv.ts";
import { table } from "../table.ts";
import type { Database, Transaction } from "../transaction.ts";
import { record } from "./audit_log.ts";
import { blocks } from "./blocks.ts";
import { append } from "./event_store.ts";
import { isLogOpen, logPart, type RecordChange, sumOf } from "./link_imports.ts";
import { links } from "./links.ts";
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

/** A link that replaces another one changes up to 24 keys, its audit entry and its undo included. */
export const keysOfLink = 24;

/** The links of a transaction at most, so that a commit does not keep others waiting. */
const largestPart = 1_000;

const byChatId = Order.mapInput(Order.String, ({ chatId }: PortableLink) => chatId);

/**
 * @param before what each transaction checks first
 * @param also what the last transaction does besides
 */
export const importBatch = <E = never>(
  db: Database,
  batch: ImportBatch,
  before: (tx: Transaction) => StoreEffect<void, E> = () => Effect.void,
  also: (tx: Transaction, counts: BatchImported) => StoreEffect<void> = () => Effect.void,
): StoreEffect<BatchOutcome, E> =>
  Effect.gen(function* () {
    const { pid } = batch;
    assertStorable([batch.progress?.source ?? ""]);
    const lines = [...new Map(batch.links.map((line) => [line.chatId, line])).values()].toSorted(byChatId);
    const most = Math.floor((db.kv.maxChanges ?? maxChanges) / keysOfLink) - 1;
    const parts = Arr.chunksOf(lines, Math.min(most, largestPart));
    const oldest = [batch.at - progressKeptFor];
    const outdated = yield* db.read(function* (tx) {
      return yield* tx.list(progress.byTime, [], { before: oldest, limit: 10 });
    });
    let counts: BatchOutcome = { inserted: 0, replaced: 0, unchanged: 0, kept: 0 };
    for (const [index, part] of (parts.length === 0 ? [[]] : parts).entries()) {
      const earlier = counts;
      const isContinued = batch.isContinued === true || (batch.file !== undefined && index > 0);
      counts = yield* db.write<BatchOutcome, E>(pid, function* (tx) {
        yield* before(tx);
        if (isContinued && !(yield* isLogOpen(tx, batch))) return { ...earlier, isEnded: true };
        const stored = sumOf(earlier, yield* storePart(tx, batch, part));
        if (index >= parts.length - 1) {
          yield* endBatch(tx, batch, stored, outdated);
          yield* also(tx, stored);
        }
        return stored;
      });
      if (counts.isEnded === true) break;
    }
    return counts;
  });

const storePart = Effect.fnUntraced(function* (
  tx: Transaction,
  batch: ImportBatch,
  part: ReadonlyArray<PortableLink>,
) {
  const { pid } = batch;
  const { epoch } = yield* scopeAt(tx, pid);
  const counts = { inserted: 0, replaced: 0, unchanged: 0, kept: 0 };
  const blocked = (yield* tx.scan(blocks, [pid, epoch])).map(({ block }) => block);
  const chatIds = new Set(blocked.map(({ chatId }) => chatId));
  const gameIds = new Set(blocked.map(({ gameId }) => gameId));
  const admitted = part.filter(({ chatId, gameId }) => !chatIds.has(chatId) && !gameIds.has(gameId));
  counts.kept += part.length - admitted.length;
  const found = yield* tx.getAll(
    links,
    admitted.map(({ chatId }) => [pid, chatId]),
  );
  const changes: Array<RecordChange> = [];
  for (const [index, line] of admitted.entries()) {
    const stored = found[index];
    const before = stored?.epoch === epoch ? stored.link : undefined;
    const next = importedRecord(before, line, batch);
    counts[importEffect(before, next, line)]++;
    if (next === before) continue;
    changes.push({ before, next });
    if (before !== undefined && next.gameId !== before.gameId) {
      const { chatId, gameId } = next;
      const details = { chatId, gameId, previousGameId: before.gameId, via: "import" };
      yield* record(tx, { ...batch, action: "link.set", details });
    }
    yield* tx.put(links, { pid, epoch, link: next });
  }
  if (batch.file !== undefined) yield* logPart(tx, batch, batch.file, counts, changes);
  return counts;
});

const endBatch = Effect.fnUntraced(function* (
  tx: Transaction,
  batch: ImportBatch,
  counts: BatchImported,
  outdated: ReadonlyArray<Progress>,
) {
  const { pid, at } = batch;
  const count = counts.inserted + counts.replaced;
  if (count > 0) {
    if (batch.file === undefined) {
      yield* record(tx, { ...batch, action: "links.imported", details: { ...counts } });
    }
    const data = { count, source: sourceOf(batch.actor) };
    yield* append(tx, pid, newEvent(at, { type: "links.imported", data }));
  }
  if (batch.progress === null) return;
  const { source, position } = batch.progress;
  yield* tx.put(progress, { source, position, savedAt: at });
  for (const { source: old } of outdated) if (old !== source) yield* tx.remove(progress, old);
});
