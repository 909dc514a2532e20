/** The undo of imports. */
import type { StoreUnavailable } from "@accountlink/core/errors";
import type { ChatId, GameId, Pid } from "@accountlink/core/ids";
import {
  type ImportStore,
  type ImportUndone,
  isUntouched,
  joinedNeighbours,
  type UndoableImport,
  type UndoImport,
  type UnfinishedUndo,
  undoableFor,
  undoableImports,
  undoneRecord,
} from "@accountlink/core/imports";
import { importUndone } from "@accountlink/core/journal";
import type { LinkRecord } from "@accountlink/core/links";
import { Effect, Order, Struct } from "effect";
import type { Database } from "../database.ts";
import { removeInSteps } from "../steps.ts";
import type { Transaction } from "../transaction.ts";
import { blockTest } from "./blocks.ts";
import { linksOf } from "./import_batch.ts";
import { type LinkImport, linkImports, type MadeLink, madeBy, madeLinks } from "./import_records.ts";
import { recordPart } from "./journal.ts";
import { links, takenAmong } from "./links.ts";
import { accountNamed, accounts, epochOf, isCurrent } from "./scopes.ts";

const nothingLeft: ImportUndone = { removed: 0, restored: 0, isDone: true };

export const undoOperations = (
  db: Database,
): Pick<
  ImportStore["Service"],
  "listUndoable" | "listUnfinishedUndos" | "undoablePage" | "countChanges" | "undo"
> => ({
  listUndoable: (name, at) =>
    db.read(function* (tx) {
      const account = yield* accountNamed(tx, name);
      if (account === undefined) return [];
      return (yield* undoableAmong(tx, yield* tx.list(linkImports.byAccount, [account.id]), at)).map(
        undoableOf,
      );
    }),

  listUnfinishedUndos: (at) =>
    db.read(function* (tx) {
      const found: Array<UnfinishedUndo> = [];
      for (const one of yield* tx.list(linkImports.undoing, [], { after: [at] })) {
        const { id, pid, undone } = one;
        if (undone === null || !(yield* isCurrent(tx, one)) || !(yield* hasLinks(tx, one))) continue;
        const account = yield* tx.get(accounts, one.account);
        if (account === undefined) continue;
        found.push({ id, pid, account: account.name, done: undone.removed + undone.restored });
      }
      return found;
    }),

  undoablePage: (id, after, limit) =>
    db.read(function* (tx) {
      const found = yield* tx.get(linkImports, id);
      if (found === undefined || !(yield* isCurrent(tx, found))) return { links: [], next: null };
      const options = { ...(after !== null && { after: [after] }), limit };
      const page = yield* tx.scan(madeLinks, madeBy(found), options);
      return {
        links: (yield* undoneAmong(db, tx, found.pid, page)).map(({ chatId, before }) => ({
          chatId,
          isRemoved: (before?.gameId ?? null) === null,
        })),
        next: page.length < limit ? null : (page.at(-1)?.chatId ?? null),
      };
    }),

  countChanges: (name, at) =>
    db.read(function* (tx) {
      const account = yield* accountNamed(tx, name);
      const all = account === undefined ? [] : yield* tx.list(linkImports.byAccount, [account.id]);
      return all
        .filter(({ importedAt }) => importedAt > at - undoableFor)
        .reduce((sum, { counts: { inserted, replaced }, undone }) => {
          const { removed = 0, restored = 0 } = undone ?? {};
          return sum + inserted + replaced + removed + restored;
        }, 0);
    }),

  undo: (write) =>
    Effect.gen(function* () {
      const undoable = yield* db.read(function* (tx) {
        const epoch = yield* epochOf(tx, write.pid);
        return yield* undoableAmong(tx, yield* tx.list(linkImports.byScope, [write.pid, epoch]), write.at);
      });
      if (!undoable.some(({ id }) => id === write.id)) return nothingLeft;
      const others = undoable.filter(({ id, undone }) => id !== write.id && undone?.isDone !== true);
      return yield* db.write(write.pid, (tx) => undo(db, tx, write, others));
    }),
});

/** Whether the import has links, or had some before an undo. */
const isListed = Effect.fnUntraced(function* (tx: Transaction, found: LinkImport) {
  return found.undone !== null || (yield* hasLinks(tx, found));
});

const hasLinks = Effect.fnUntraced(function* (tx: Transaction, found: LinkImport) {
  return (yield* tx.scan(madeLinks, madeBy(found), { limit: 1 })).length > 0;
});

/**
 * Returns the imports that can be undone among all imports of some scopes: the last ones of each that were not undone,
 * and those whose undo has begun, newest first.
 */
const undoableAmong = Effect.fnUntraced(function* (
  tx: Transaction,
  all: ReadonlyArray<LinkImport>,
  at: number,
) {
  const found: Array<LinkImport> = [];
  const counts = new Map<Pid, number>();
  for (const one of all.toSorted(newestFirst)) {
    const later = counts.get(one.pid) ?? 0;
    if ((later === undoableImports && one.undone === null) || one.endsAt <= at) continue;
    if (!(yield* isCurrent(tx, one)) || !(yield* isListed(tx, one))) continue;
    if (one.undone === null) counts.set(one.pid, later + 1);
    found.push(one);
  }
  return found;
});

const newestFirst = (one: LinkImport, other: LinkImport) =>
  other.importedAt - one.importedAt || Order.String(one.id, other.id);

const undoableOf = ({ counts, undone, ...one }: LinkImport): UndoableImport => ({
  ...Struct.pick(one, ["id", "pid", "name", "importedAt", "endsAt"]),
  links: counts.inserted + counts.replaced,
  undone: undone && Struct.pick(undone, ["removed", "restored"]),
});

/** Returns the links that an undo takes back: nobody has changed them since, and the scope admits those from before. */
const undoneAmong = Effect.fnUntraced(function* (
  db: Database,
  tx: Transaction,
  pid: Pid,
  all: ReadonlyArray<MadeLink>,
): Effect.fn.Return<ReadonlyArray<MadeLink & { readonly linked: LinkRecord }>, StoreUnavailable> {
  const found = yield* tx.getAll(links, all, ({ chatId }) => [pid, chatId]);
  const isBlocked = yield* blockTest(tx, pid);
  const undone: Array<MadeLink & { readonly linked: LinkRecord }> = [];
  const given: Array<{ readonly chatId: ChatId; readonly gameId: GameId }> = [];
  for (const [index, one] of all.entries()) {
    const stored = found[index];
    const linked = stored?.epoch === one.epoch ? stored.link : undefined;
    if (!isUntouched(one.made, linked)) continue;
    const { chatId, before } = one;
    const gameId = before?.gameId ?? null;
    if (gameId !== null && isBlocked({ chatId, gameId })) continue;
    if (gameId !== null && gameId !== linked.gameId) given.push({ chatId, gameId });
    undone.push({ ...one, linked });
  }
  const taken = yield* takenAmong(db, tx, pid, given);
  return undone.filter(({ chatId }) => !taken.has(chatId));
});

function* undo(
  db: Database,
  tx: Transaction,
  write: UndoImport,
  others: ReadonlyArray<LinkImport>,
): Effect.fn.Return<ImportUndone, StoreUnavailable> {
  const { id, pid, at } = write;
  const found = yield* tx.get(linkImports, id);
  if (found === undefined || found.pid !== pid || found.endsAt <= at) return nothingLeft;
  if (!(yield* isCurrent(tx, found))) return nothingLeft;
  const limit = linksOf(tx, write.limit);
  const taken = yield* tx.scan(madeLinks, madeBy(found), { limit });
  // Removals read the links one by one, so all are read at once before.
  yield* tx.getAll(madeLinks, taken, madeLinks.id);
  const undone = yield* undoneAmong(db, tx, pid, taken);
  let [removed, restored] = [0, 0];
  const after = new Map<ChatId, LinkRecord>();
  for (const { linked, before } of undone) {
    const next = undoneRecord(linked, before, at);
    if (next.gameId === null) removed++;
    else restored++;
    after.set(next.chatId, next);
    yield* tx.put(links, { pid, epoch: found.epoch, link: next });
  }
  const madeByOthers = yield* Effect.forEach(others, (other) =>
    tx.getAll(madeLinks, taken, ({ chatId }) => [...madeBy(other), chatId]),
  );
  for (const [index, one] of taken.entries()) {
    const made = madeByOthers.flatMap((rows) => rows[index] ?? []);
    for (const joined of joinedNeighbours(one, made, after.get(one.chatId))) yield* tx.put(madeLinks, joined);
    yield* tx.remove(madeLinks, ...madeLinks.id(one));
  }
  const counts: ImportUndone = { removed, restored, isDone: taken.length < limit };
  yield* logUndo(tx, write, found, counts);
  return counts;
}

/** Adds the counts to the entry of the undo. */
const logUndo = Effect.fnUntraced(function* (
  tx: Transaction,
  write: UndoImport,
  found: LinkImport,
  { isDone, ...counts }: ImportUndone,
) {
  const { pid, undone, name } = found;
  const count = counts.removed + counts.restored;
  if (count === 0 && undone === null) return;
  const removed = (undone?.removed ?? 0) + counts.removed;
  const restored = (undone?.restored ?? 0) + counts.restored;
  const record = importUndone(write, count, { file: name, removed, restored });
  const entry = yield* recordPart(tx, pid, record, undone?.entry ?? null, count > 0);
  yield* tx.put(linkImports, { ...found, undone: { entry: entry as number, removed, restored, isDone } });
});

/** Removes what undoes imports after its time. */
export const sweepUndo = Effect.fnUntraced(function* (db: Database, at: number) {
  const ended = yield* db.read(function* (tx) {
    const all = yield* tx.list(linkImports.byEnd, []);
    const kept = new Set((yield* undoableAmong(tx, all, at)).map(({ id }) => id));
    return all.filter(({ id }) => !kept.has(id));
  });
  for (const one of ended) {
    yield* removeInSteps(db, madeLinks, madeBy(one));
    yield* db.write(one.pid, function* (tx) {
      const found = yield* tx.get(linkImports, one.id);
      if (found !== undefined && found.importedAt <= at - undoableFor) yield* tx.remove(linkImports, one.id);
    });
  }
});
