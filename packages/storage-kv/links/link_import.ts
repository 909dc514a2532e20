import type { ChatId } from "@accountlink/core";
import { newEvent, sourceOf } from "@accountlink/core/events";
import { type ImportBatch, importEffect, importedRecord, progressKeptFor } from "@accountlink/core/links";
import { Effect } from "effect";
import { recordChange } from "../audit/record_change.ts";
import { appendEvents } from "../events/append_events.ts";
import { requireScope } from "../keys/accounts.ts";
import { importProgress, links } from "../records/schema.ts";
import { stepSize } from "../records/steps.ts";
import type { Transaction } from "../records/transaction.ts";
import { putLink } from "./link_records.ts";

export const importBatch = Effect.fnUntraced(function* (tx: Transaction, batch: ImportBatch) {
  const { pid, existing, progress } = batch;
  const scope = yield* requireScope(tx, pid);
  const lastLines = new Map(batch.links.map((line) => [line.chatId, line]));
  const found = yield* links.findAll(
    tx,
    Array.from(lastLines.keys(), (chatId) => [pid, chatId]),
  );
  const known = new Map<ChatId, (typeof found)[number]["record"]>(
    found.map(({ record }) => [record.chatId, record]),
  );
  const counts = { inserted: 0, replaced: 0, unchanged: 0, kept: 0 };
  for (const line of lastLines.values()) {
    const record = known.get(line.chatId);
    const next = importedRecord(record, line, existing);
    counts[importEffect(record, next, line)]++;
    if (next !== record) yield* putLink(tx, pid, next);
  }
  if (counts.inserted + counts.replaced > 0) {
    yield* recordChange(tx, { ...batch, action: "links.imported", of: scope, details: counts });
    const data = { count: counts.inserted + counts.replaced, source: sourceOf(batch.actor) };
    yield* appendEvents(tx, pid, [newEvent(batch.at, { type: "links.imported", data })]);
  }
  if (progress !== null) yield* saveProgress(tx, progress, batch.at);
  return counts;
});

const saveProgress = Effect.fnUntraced(function* (
  tx: Transaction,
  progress: NonNullable<ImportBatch["progress"]>,
  at: number,
) {
  yield* importProgress.put(tx, { ...progress, savedAt: at });
  for (const { source, savedAt } of yield* importProgress.list(tx, "saved", [], { limit: stepSize })) {
    if (savedAt < at - progressKeptFor) yield* importProgress.remove(tx, source);
  }
});
