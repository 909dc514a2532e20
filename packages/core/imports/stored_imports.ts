/** The lists and the undo of imports, for all storages. */
import { Array as Arr, Effect } from "effect";
import type { StoreEffect, StoreUnavailable } from "../errors.ts";
import { groupBy } from "../group_by.ts";
import type { ChatId, Pid } from "../ids.ts";
import { importUndone } from "../journal/mod.ts";
import type { LinkRecord } from "../links/link.ts";
import { forEachPart, heldAtOnce, keysOfAll } from "../records/mod.ts";
import { dayMs, type Millis } from "../timestamp.ts";
import {
  type ImportStore,
  type ImportUndone,
  type UndoableImport,
  type UndoImport,
  type UndoPlace,
  undoableImports,
} from "./import_store.ts";
import { isFound, isUntouched, joinedNeighbours, undoneRecord } from "./imported_record.ts";
import {
  type ImportedLink,
  type ImportTx,
  type ImportTxBody,
  importedLinks,
  type LinkImport,
  linkImports,
} from "./link_imports.ts";

type Operations = Omit<ImportStore["Service"], "importBatch">;
type Name = keyof Operations;

/** @internal */
export interface ImportTransactions {
  readonly read: <A>(name: Name, body: ImportTxBody<A>) => StoreEffect<A>;
  /** Finds and changes what a scope has. `change` reads it again, since others may have changed it. */
  readonly write: <Found, A>(
    name: Name,
    pid: Pid,
    find: (tx: ImportTx) => StoreEffect<Found>,
    change: (tx: ImportTx, found: Found) => StoreEffect<A>,
  ) => StoreEffect<A>;
  /** Deletes the links to undo of ended imports in steps, then the `old` ones of these imports. */
  readonly removeEnded: (
    ended: ReadonlyArray<LinkImport>,
    old: ReadonlyArray<LinkImport>,
  ) => StoreEffect<unknown>;
}

/** @internal */
export const storedImports = ({
  read,
  write,
  removeEnded,
}: ImportTransactions): Omit<Operations, "importPosition" | "savePosition"> => ({
  listUndoable: (account, at) =>
    read("listUndoable", function* (tx) {
      const all = yield* tx.ofAccount(linkImports, account);
      const undoable = undoableAmong(yield* openAmong(tx, all, at));
      const left = yield* withLinks(tx, undoable.filter(isBegun));
      // Leaves out imports that only found the links of others.
      return undoable
        .map((one) => undoableOf(one, left.has(one.id)))
        .filter(({ links, undone }) => links > 0 || undone !== null);
    }),

  unfinishedUndos: (after, limit) =>
    read("unfinishedUndos", function* (tx) {
      const begun = yield* tx.list(linkImports.undone, [], { after: after ?? [0], limit });
      const last = begun.at(-1);
      if (last === undefined) return { undos: [], next: null };
      const left = yield* withLinks(tx, begun);
      const scopes = yield* tx.scopes(begun.map(({ pid }) => pid));
      const undos = begun.flatMap(({ id, pid, removed, restored }) => {
        const account = scopes.get(pid)?.scope.account;
        return account === undefined || !left.has(id) ? [] : [{ id, pid, account, done: removed + restored }];
      });
      const place: UndoPlace = [last.endsAt, last.undoEntry ?? 0, last.id];
      return { undos, next: begun.length < limit ? null : place };
    }),

  undoablePage: (id, after, limit) =>
    read("undoablePage", function* (tx) {
      const found = yield* tx.get(linkImports, id);
      if (found === undefined || found.endsAt === 0) return { links: [], kept: 0, given: 0, next: null };
      const bounds = { ...(after !== null && { after: [after] }), limit };
      const page = yield* tx.list(importedLinks.byKey, [id], bounds);
      const imports = yield* tx.list(linkImports.byScope, [found.pid]);
      const others = without(found, yield* openAmong(tx, imports, found.importedAt));
      const { undone: all, made } = yield* undoneAmong(tx, found, page, 2 * limit, others);
      const own = page.filter((link) => !isFound(link));
      const chatIds = new Set(own.map(({ chatId }) => chatId));
      const undone = all.filter(({ chatId }) => chatIds.has(chatId));
      const records = yield* tx.records(found.pid, [...chatIds]);
      const given = own.filter((link) => {
        const record = records.get(link.chatId);
        return isUntouched(link, record) && isOfLater(made.get(link.chatId), record);
      });
      return {
        links: undone.map(({ chatId, previousGameId }) => ({ chatId, isRemoved: previousGameId === null })),
        kept: own.length - undone.length,
        given: given.length,
        next: page.length < limit ? null : (page.at(-1)?.chatId ?? null),
      };
    }),

  countChanges: (account, at) =>
    read("countChanges", function* (tx) {
      const all = yield* tx.ofAccount(linkImports, account);
      return all.reduce((sum, one) => sum + changesSince(one, at - dayMs), 0);
    }),

  undo: (undo) =>
    write(
      "undo",
      undo.pid,
      (tx) => Effect.flatMap(tx.list(linkImports.byScope, [undo.pid]), (all) => openAmong(tx, all, undo.at)),
      Effect.fnUntraced(function* (tx, open) {
        const isUndoable = undoableAmong(open).some(({ id }) => id === undo.id);
        const found = isUndoable ? yield* tx.get(linkImports, undo.id) : undefined;
        if (found === undefined || !isOpen(found, undo.at)) return nothingLeft;
        return yield* undoSome(tx, undo, found, without(found, open));
      }),
    ),

  sweep: Effect.fnUntraced(function* (at) {
    const ended = yield* read("sweep", function* (tx) {
      const all: Array<LinkImport> = [];
      yield* forEachPart(tx, linkImports.byKey, (part) => Effect.sync(() => all.push(...part)));
      const undoable = new Set(undoableAmong(yield* openAmong(tx, all, at)));
      return all.filter((one) => !undoable.has(one));
    });
    const isOld = (one: LinkImport) => Math.max(one.importedAt, undoneAtOf(one)) <= at - dayMs;
    yield* removeEnded(ended, ended.filter(isOld));
  }),
});

const nothingLeft: ImportUndone = { removed: 0, restored: 0, isDone: true };

/** The time from which the changes by an undo count. An earlier release did not store it. */
const undoneAtOf = ({ undoneAt, importedAt }: LinkImport): Millis => undoneAt ?? importedAt;

/** Counts the changes by an import that began after a time, and by its undo if the last step was after that time. */
const changesSince = (one: LinkImport, since: Millis): number =>
  (one.importedAt > since ? one.inserted + one.replaced : 0) +
  (undoneAtOf(one) > since ? one.removed + one.restored : 0);

const isBegun = ({ undoEntry }: LinkImport): boolean => undoEntry !== null;

/** Whether the undo of an import may begin, or has begun: it then goes on until no link is left. */
const isOpen = (one: LinkImport, at: Millis): boolean =>
  one.endsAt > at || (one.endsAt !== 0 && isBegun(one));

const withLinks = Effect.fnUntraced(function* (tx: ImportTx, imports: ReadonlyArray<LinkImport>) {
  const left = new Set<string | undefined>();
  for (const part of Arr.chunksOf(imports, heldAtOnce)) {
    const ids = part.map(({ id }) => [id]);
    for (const link of yield* tx.firsts(importedLinks.byKey, ids)) left.add(link?.importId);
    if (part.length === heldAtOnce) yield* Effect.yieldNow;
  }
  return left;
});

/** Returns the imports with links to undo, and imports of the last day whose undo has begun, newest first. @internal */
export const openAmong = Effect.fnUntraced(function* (
  tx: ImportTx,
  all: ReadonlyArray<LinkImport>,
  at: Millis,
) {
  const open = all.filter((one) => isOpen(one, at));
  const left = yield* withLinks(tx, open);
  return open.filter((one) => left.has(one.id) || (isBegun(one) && one.endsAt > at)).toSorted(newestFirst);
});

const newestFirst = (one: LinkImport, other: LinkImport): number =>
  other.importedAt - one.importedAt || (one.id < other.id ? -1 : 1);

/** Returns the last imports of each scope that were not undone, and those whose undo has begun. */
const undoableAmong = (open: ReadonlyArray<LinkImport>): ReadonlyArray<LinkImport> => {
  const counts = new Map<string, number>();
  return open.filter((one) => {
    if (isBegun(one)) return true;
    // Imports that only found links are listed nowhere, so they count apart.
    const key = `${one.pid} ${one.inserted + one.replaced > 0}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count <= undoableImports;
  });
};

const undoableOf = (one: LinkImport, isLeft: boolean): UndoableImport => {
  const { id, pid, name, importedAt, endsAt, inserted, replaced, removed, restored } = one;
  const undone = isBegun(one) ? { removed, restored, isDone: !isLeft } : null;
  return { id, pid, name, importedAt, endsAt, links: inserted + replaced, undone };
};

const without = ({ id }: LinkImport, imports: ReadonlyArray<LinkImport>) =>
  imports.filter((one) => one.id !== id);

/** Returns what imports did to the links of chat users, by chat user. @internal */
export const madeBy = Effect.fnUntraced(function* (
  tx: ImportTx,
  imports: ReadonlyArray<LinkImport>,
  links: ReadonlyArray<{ readonly chatId: ChatId }>,
) {
  const made = yield* Effect.forEach(imports, ({ id }) =>
    tx.getAll(
      importedLinks,
      links.map(({ chatId }) => [id, chatId]),
    ),
  );
  return groupBy(made.flat(), ({ chatId }) => chatId);
});

const idsOf = (imports: ReadonlyArray<LinkImport>): ReadonlySet<string> =>
  new Set(imports.map(({ id }) => id));

/** Whether another import found a link that nobody has changed since. */
const isOfLater = (others: ReadonlyArray<ImportedLink> = [], record: LinkRecord | undefined): boolean =>
  others.some((other) => isFound(other) && isUntouched(other, record));

/**
 * Returns links that nobody has changed since their import and no other import has found or made again, by chat user, unless
 * a user of the link before is blocked.
 *
 * @param later the IDs of the imports after the one of the links
 */
const untouchedAmong = Effect.fnUntraced(function* (
  tx: ImportTx,
  pid: Pid,
  links: ReadonlyArray<ImportedLink>,
  made: ReadonlyMap<ChatId, ReadonlyArray<ImportedLink>>,
  later: ReadonlySet<string>,
) {
  const chatIds = links.map(({ chatId }) => chatId);
  const records = yield* tx.records(pid, chatIds);
  const untouched = links.flatMap((one) => {
    const record = records.get(one.chatId);
    const others = made.get(one.chatId) ?? [];
    const isAgain = others.some((other) => later.has(other.importId) && isUntouched(other, record));
    const isOthers = isFound(one) || isOfLater(others, record) || isAgain;
    return isUntouched(one, record) && !isOthers ? [{ ...one, record }] : [];
  });
  const restored = untouched.flatMap(({ chatId, previousGameId: gameId }) =>
    gameId === null ? [] : [{ chatId, gameId }],
  );
  const blocked = new Set(restored.map(({ chatId }) => chatId));
  for (const { chatId } of yield* tx.unblocked(pid, restored)) blocked.delete(chatId);
  return new Map(untouched.filter(({ chatId }) => !blocked.has(chatId)).map((link) => [link.chatId, link]));
});

/** How often `undoneAmong` looks for chat users who give back a game user. */
const mostLooks = 10;

/**
 * Returns the links that an undo takes back: nobody has changed them since, and the scope admits those from before. Looks
 * also at links of other pages, whose chat users have the game users of links from before; the last links of a full page
 * give way to them.
 *
 * @param most the number of links to look at, at most
 */
const undoneAmong = Effect.fnUntraced(function* (
  tx: ImportTx,
  found: LinkImport,
  page: ReadonlyArray<ImportedLink>,
  most: number,
  others: ReadonlyArray<LinkImport>,
) {
  const { id, pid } = found;
  const later = idsOf(others.filter((one) => one.importedAt > found.importedAt));
  const own = page.map(({ chatId }) => chatId);
  const looked = new Map(page.map((link) => [link.chatId, link]));
  const made = yield* madeBy(tx, others, page);
  const undone = yield* untouchedAmong(tx, pid, page, made, later);
  for (let looks = 0; looks <= mostLooks; looks++) {
    const isLast = looks === mostLooks;
    const moved = [...undone.values()].filter(
      ({ previousGameId, record }) => previousGameId !== record.gameId,
    );
    const given = moved.flatMap(({ chatId, previousGameId: gameId }) =>
      gameId === null ? [] : [{ chatId, gameId }],
    );
    // Whoever gets a game user back may still be refused after the last look.
    const leaving = isLast ? moved.filter(({ previousGameId }) => previousGameId === null) : moved;
    const holders = yield* tx.holders(
      pid,
      given,
      leaving.map(({ chatId }) => chatId),
    );
    if (holders.size === 0) break;
    const unseen = [...new Set(holders.values())].filter((chatId) => !looked.has(chatId));
    const room = isLast ? 0 : Math.floor(most / 2) - (looked.size - own.length);
    const seen = yield* tx.getAll(
      importedLinks,
      unseen.slice(0, room).map((chatId) => [id, chatId]),
    );
    for (const link of seen) looked.set(link.chatId, link);
    for (const [chatId, links] of yield* madeBy(tx, others, seen)) made.set(chatId, links);
    const added = yield* untouchedAmong(tx, pid, seen, made, later);
    for (const [chatId, holder] of holders) if (!added.has(holder)) undone.delete(chatId);
    for (const [chatId, link] of added) undone.set(chatId, link);
    for (const chatId of own.splice(most - (looked.size - own.length))) {
      looked.delete(chatId);
      undone.delete(chatId);
    }
  }
  return { looked: [...looked.values()], undone: [...undone.values()], made };
});

const withMore = (one: LinkImport, links: number): LinkImport => ({
  ...one,
  replaced: one.replaced + links,
  unchanged: one.unchanged - links,
});

/** Undoes the next links of an import. Joins what the imports before and after it did to their users. */
const undoSome = Effect.fnUntraced(function* (
  tx: ImportTx,
  undo: UndoImport,
  found: LinkImport,
  others: ReadonlyArray<LinkImport>,
): Effect.fn.Return<ImportUndone, StoreUnavailable> {
  const { pid, at } = undo;
  const limit = Math.min(undo.limit, tx.mostUndone);
  const page = limit === 0 ? [] : yield* tx.list(importedLinks.byKey, [found.id], { limit });
  const { looked: taken, undone, made } = yield* undoneAmong(tx, found, page, limit, others);
  const after = new Map<ChatId, LinkRecord>(
    undone.map((link) => [link.chatId, undoneRecord(link.record, link, at)]),
  );
  yield* tx.putRecords(pid, [...after.values()]);
  const earlier = idsOf(others.filter((one) => one.importedAt < found.importedAt));
  const joined = taken.flatMap((one) =>
    joinedNeighbours(one, made.get(one.chatId) ?? [], after.get(one.chatId), earlier),
  );
  yield* tx.putAll(importedLinks, joined);
  yield* tx.removeAll(importedLinks, keysOfAll(importedLinks, taken));
  const removed = [...after.values()].filter(({ gameId }) => gameId === null).length;
  const restored = after.size - removed;
  const isDone = page.length < limit;
  const wasFound = ({ importId, chatId }: ImportedLink) =>
    made.get(chatId)?.some((other) => other.importId === importId && isFound(other)) === true;
  const given = joined.filter((link) => wasFound(link) && !isFound(link));
  for (const [id, links] of groupBy(given, ({ importId }) => importId)) {
    const other = yield* tx.get(linkImports, id);
    if (other !== undefined) yield* tx.put(linkImports, withMore(other, links.length));
  }
  // The entry marks the undo as begun, so that it goes on after its node died.
  if (after.size > 0 || given.length > 0 || !(isDone || isBegun(found))) {
    const sums = { removed: found.removed + removed, restored: found.restored + restored };
    const told = importUndone(undo, after.size, { file: found.name, ...sums });
    const part = after.size === 0 ? { ...told, event: null } : told;
    const undoEntry = yield* tx.journalPart(pid, part, found.undoEntry, true);
    yield* tx.put(linkImports, { ...withMore(found, -given.length), ...sums, undoEntry, undoneAt: at });
  }
  return { removed, restored, isDone };
});
