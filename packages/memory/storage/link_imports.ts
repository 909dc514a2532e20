/** What imports did, for their audit entries and their undo. */
import { newEvent, sourceOf } from "@accountlink/core/events";
import type {
  BatchImported,
  ImportBatch,
  ImportUndone,
  LinkRecord,
  UndoableImport,
  UndoImport,
} from "@accountlink/core/links";
import { isSameImport, isUntouched, mostUndoable, undoableFor, undoneRecord } from "@accountlink/core/links";
import { assertStorable } from "@accountlink/core/storable_text";
import { Order } from "effect";
import type { MadeLink, Memory, MemoryLinkImport } from "./state.ts";

interface RecordChange {
  readonly record: LinkRecord | undefined;
  readonly next: LinkRecord;
}

const none: BatchImported = { inserted: 0, replaced: 0, unchanged: 0, kept: 0 };

/** Logs a batch: in the entry of its file, or in one of its own. Call before the change, since this may throw. */
export const logBatch = (
  memory: Memory,
  batch: ImportBatch,
  counts: BatchImported,
  changes: ReadonlyArray<RecordChange>,
): void => {
  const { pid, file, at } = batch;
  const hasChanged = counts.inserted + counts.replaced > 0;
  if (file === undefined) {
    if (hasChanged) memory.record({ ...batch, action: "links.imported", details: { ...counts } });
    return;
  }
  const { id, name, isUndoable } = file;
  assertStorable([id, name]);
  const before = memory.linkImports.get(id);
  const sum = sumOf(before?.counts ?? none, counts);
  const details = { file: name, ...sum };
  let entry = before?.entry ?? null;
  if (entry !== null) memory.amend(entry, details);
  else if (hasChanged) entry = memory.record({ ...batch, action: "links.imported", details });
  memory.linkImports.set(id, {
    id,
    pid,
    name,
    importedAt: at,
    endsAt: at + undoableFor,
    undone: null,
    ...before,
    counts: sum,
    entry,
    links: withMade(before?.links, isUndoable ? changes : []),
  });
};

/** Adds the links that a batch made. Earlier batches of the import may have made some of the same chat users. */
const withMade = (made: MemoryLinkImport["links"] | undefined, changes: ReadonlyArray<RecordChange>) => {
  const links = new Map(made);
  for (const { record, next } of changes) {
    if (record === next) continue;
    const earlier = links.get(next.chatId);
    const isOwn = earlier !== undefined && record !== undefined && isSameImport(earlier.made, record);
    links.set(next.chatId, { made: next, before: isOwn ? earlier.before : record });
  }
  return links;
};

const sumOf = (one: BatchImported, other: BatchImported): BatchImported => ({
  inserted: one.inserted + other.inserted,
  replaced: one.replaced + other.replaced,
  unchanged: one.unchanged + other.unchanged,
  kept: one.kept + other.kept,
});

export const listUndoable = (memory: Memory, account: string, at: number): ReadonlyArray<UndoableImport> =>
  [...memory.linkImports.values()]
    .filter(({ pid, endsAt }) => endsAt > at && memory.links.get(pid)?.scope.account === account)
    .filter(({ links, undone }) => links.size > 0 || undone !== null)
    .toSorted((one, other) => other.importedAt - one.importedAt || (one.id < other.id ? -1 : 1))
    .map(({ id, pid, name, importedAt, endsAt, counts, undone }) => ({
      id,
      pid,
      name,
      importedAt,
      endsAt,
      links: counts.inserted + counts.replaced,
      undone: undone && { removed: undone.removed, restored: undone.restored },
    }));

export const countUndoable = (memory: Memory, id: string): number => {
  const found = memory.linkImports.get(id);
  if (found === undefined) return 0;
  const records = memory.links.get(found.pid);
  const untouched = [...found.links].filter(([chatId, { made }]) => isUntouched(made, records?.find(chatId)));
  return Math.min(untouched.length, mostUndoable);
};

export const undoImport = (memory: Memory, write: UndoImport): ImportUndone => {
  const { id, pid, at, limit } = write;
  const found = memory.linkImports.get(id);
  if (found === undefined || found.pid !== pid || found.endsAt <= at) return nothingLeft;
  const records = memory.linksOf(pid);
  const taken = [...found.links].toSorted(byChatId).slice(0, limit);
  let [removed, restored] = [0, 0];
  for (const [chatId, { made, before }] of taken) {
    found.links.delete(chatId);
    const record = records.find(chatId);
    if (!isUntouched(made, record)) continue;
    const next = undoneRecord(record, before, at);
    if (next.gameId === null) removed++;
    else restored++;
    if (next.gameId !== null && next.gameId !== record.gameId) {
      const details = { chatId, gameId: next.gameId, previousGameId: record.gameId, via: "undo" };
      memory.record({ ...write, action: "link.set", details });
    }
    records.put(next);
  }
  if (removed + restored > 0) {
    logUndo(memory, write, found, { removed, restored });
    const data = { count: removed + restored, source: sourceOf(write.actor) };
    memory.append(pid, newEvent(at, { type: "links.imported", data }));
  }
  return { removed, restored, isDone: taken.length < limit };
};

const nothingLeft: ImportUndone = { removed: 0, restored: 0, isDone: true };

const logUndo = (
  memory: Memory,
  write: UndoImport,
  found: MemoryLinkImport,
  counts: Pick<ImportUndone, "removed" | "restored">,
): void => {
  const { undone, name } = found;
  const removed = (undone?.removed ?? 0) + counts.removed;
  const restored = (undone?.restored ?? 0) + counts.restored;
  const details = { file: name, removed, restored };
  const entry = undone?.entry ?? memory.record({ ...write, action: "links.import_undone", details });
  if (undone !== null) memory.amend(entry, details);
  memory.linkImports.set(found.id, { ...found, undone: { entry, removed, restored } });
};

const byChatId = Order.mapInput(Order.String, ([chatId]: readonly [string, MadeLink]) => chatId);
