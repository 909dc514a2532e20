import { type ChatId, type GameId, LinkStore, type Pid } from "@accountlink/core";
import { endImports, followRestored } from "@accountlink/core/imports";
import { linkMoved, linkRemoved, linkSet, scopeDeleted } from "@accountlink/core/journal";
import { forEachLimited } from "@accountlink/core/limited_loops";
import {
  type ChatMoved,
  type DeleteScope,
  type GameSet,
  type GameUnlinked,
  isLinked,
  keptDeletion,
  keptMove,
  keptRemoval,
  keptSet,
  type Link,
  type LinkProof,
  type LinkRecord,
  linkedRecord,
  type MoveChat,
  maxChatsOfGame,
  provenAt,
  type RemoveGame,
  type RestoreGame,
  type ScopeDeleted,
  type SetGame,
  type WayCount,
} from "@accountlink/core/links";
import type { EndingVerifications } from "@accountlink/core/storage";
import { Array as Arr, Effect, Option } from "effect";
import type { Database } from "../database.ts";
import { txOf } from "../records.ts";
import type { Transaction } from "../transaction.ts";
import { keyedWrite } from "./idempotency_store.ts";
import { record } from "./journal.ts";
import {
  findLink,
  findRecord,
  findRecords,
  links,
  linkWriteKeys,
  putLink,
  refuseUnadmitted,
  type StoredLink,
  setGame,
} from "./links.ts";
import { forgetFiles, purgeScope, purges } from "./purges.ts";
import { epochOf, isBlocking, type StoredScope, scopeAt, scopeKey, scopes } from "./scopes.ts";
import { storeLayer } from "./store_layer.ts";
import {
  endingVerifications,
  endLastVerifications,
  type ManyVerifications,
  withEnded,
} from "./verifications.ts";

/** The lists of game users that are read at once, each of which may be long. */
const listsAtOnce = 8;

const putUnlinked = Effect.fnUntraced(function* (
  tx: Transaction,
  { pid, epoch }: StoredScope,
  link: Link,
  at: number,
) {
  const next = { ...link, gameId: null, linkVersion: link.linkVersion + 1, linkedAt: at };
  yield* tx.put(links, { pid, epoch, link: next, removedLinkedAt: link.linkedAt });
  return next;
});

/** How many links are read at once to count them. */
const countStep = 500;

const pageAfter = (db: Database, pid: Pid, after: ChatId | null, limit: number) =>
  db.read(function* (tx) {
    const epoch = yield* epochOf(tx, pid);
    const options = { ...(after !== null && { after: [after] }), limit };
    return (yield* tx.list(links.byChat, [pid, epoch, 1], options)).map(linkOf);
  });

export const layer = storeLayer(LinkStore, (db) => ({
  findByChatId: (pid, chatId) =>
    Effect.map(findRecords(db, pid, [chatId]), ([found]) => Option.fromUndefinedOr(found)),

  findByChatIds: (pid, chatIds) => findAll(db, pid, chatIds, (link) => link),
  findGamesByChatIds: (pid, chatIds) => findAll(db, pid, chatIds, ({ gameId }) => gameId),

  findByGameIds: (pid, gameIds, enough = maxChatsOfGame) =>
    Effect.flatMap(db.peek([scopeKey(pid)]), ([scope]) => {
      const stored = scope as StoredScope | undefined;
      const { epoch = 0 } = stored ?? {};
      const chatsOf = (gameId: GameId) =>
        isBlocking(stored, gameId)
          ? Effect.succeed([])
          : db.peekEntries<StoredLink, ChatId>(links.byGame, [pid, epoch, gameId], enough);
      return Effect.map(
        forEachLimited(gameIds, listsAtOnce, chatsOf),
        (found) => new Map(Arr.zip(gameIds, found).filter(([, chatIds]) => chatIds.length > 0)),
      );
    }),

  setGame: keyedWrite<GameSet, SetGame>(
    db,
    keptSet,
    byScope,
    (tx, write) => setGame(tx, write),
    ({ pid, chatId }) => linkWriteKeys(pid, chatId),
  ),

  moveChat: keyedWrite<ChatMoved, MoveChat>(
    db,
    keptMove,
    byScope,
    moveChat,
    ({ pid, oldChatId, newChatId }) => linkWriteKeys(pid, oldChatId, newChatId),
  ),

  removeGame: removeGame(db),

  restoreGame: (write) => db.write(write.pid, (tx) => restoreGame(tx, write)),

  distrust: (write) =>
    db.write(write.pid, function* (tx) {
      const { pid, chatId, gameId } = write;
      const link = yield* findLink(tx, pid, chatId);
      if (link?.gameId !== gameId || link.proof !== "known") return false;
      const { provenAt: _, ...rest } = link;
      const distrusted: Link = { ...rest, proof: "hand" };
      yield* putLink(tx, yield* scopeAt(tx, pid), distrusted);
      yield* record(tx, pid, linkSet(write, { record: distrusted, previousGameId: gameId }));
      return true;
    }),

  deleteScope: deleteScope(db),

  countLinks: (pid, { verified } = {}) =>
    db.read(function* (tx) {
      const epoch = yield* epochOf(tx, pid);
      if (verified === undefined) return yield* tx.count(links.byTime, [pid, epoch]);
      const bounds = { from: [verified.from], before: [verified.before] };
      return yield* tx.count(links.verified, [pid, epoch], bounds);
    }),

  countWays: Effect.fnUntraced(function* (pid, since) {
    const counts = new Map<LinkProof, WayCount>();
    let after: ChatId | null = null;
    do {
      const page: ReadonlyArray<Link> = yield* pageAfter(db, pid, after, countStep);
      for (const link of page) {
        const { links: count, recent } = counts.get(link.proof) ?? { links: 0, recent: 0 };
        const isRecent = (provenAt(link) ?? link.lastVerifiedAt) >= since;
        counts.set(link.proof, { proof: link.proof, links: count + 1, recent: recent + Number(isRecent) });
      }
      after = page.length < countStep ? null : (page.at(-1)?.chatId ?? null);
    } while (after !== null);
    return [...counts.values()];
  }),

  newestPage: (pid, place, limit, direction = "older") =>
    db.read(function* (tx) {
      const epoch = yield* epochOf(tx, pid);
      const at = place === null ? undefined : [-place.lastVerifiedAt, place.chatId];
      const isBack = at !== undefined && direction === "newer";
      const bounds = isBack ? { before: at, reverse: true } : { after: at };
      const page = (yield* tx.list(links.byTime, [pid, epoch], { ...bounds, limit })).map(linkOf);
      return isBack ? page.toReversed() : page;
    }),

  exportPage: (pid, after, limit) => pageAfter(db, pid, after, limit),
}));

/** Removes a link. Returns null if there was none. */
export const removeLink = Effect.fnUntraced(function* (
  tx: Transaction,
  write: RemoveGame & Pick<EndingVerifications, "spares">,
) {
  const { pid, chatId, at } = write;
  const link = yield* findLink(tx, pid, chatId);
  if (link === undefined) return null;
  const { gameId } = link;
  const next = yield* putUnlinked(tx, yield* scopeAt(tx, pid), link, at);
  const ended = yield* endLastVerifications(tx, write);
  yield* record(tx, pid, linkRemoved(write, chatId, gameId, next.linkVersion));
  return { gameId, ended } satisfies GameUnlinked;
});

const removeGame = (db: Database) => {
  const run = keyedWrite<Option.Option<GameUnlinked>, RemoveGame, ManyVerifications>(
    db,
    keptRemoval,
    byScope,
    function* (tx, write) {
      return Option.fromNullishOr(yield* removeLink(tx, write));
    },
    ({ pid, chatId }) => linkWriteKeys(pid, chatId),
  );
  return (write: RemoveGame) =>
    Effect.map(endingVerifications(db, run(write)), ([removed, before]) =>
      Option.map(removed, (made) => withEnded(made, write.chatId, before)),
    );
};

function* restoreGame(
  tx: Transaction,
  write: RestoreGame,
): Effect.fn.Return<Option.Option<Link>, Effect.Error<ReturnType<typeof refuseUnadmitted>>> {
  const { pid, chatId, gameId, removedAt } = write;
  const scope = yield* scopeAt(tx, pid);
  yield* refuseUnadmitted(tx, pid, write);
  const stored = yield* tx.get(links, pid, chatId);
  if (stored?.epoch !== scope.epoch || stored.removedLinkedAt === undefined) return Option.none();
  const { link: removed, removedLinkedAt: linkedAt } = stored;
  if (removed.linkedAt !== removedAt) return Option.none();
  const link = { ...removed, gameId, linkVersion: removed.linkVersion + 1, linkedAt };
  yield* putLink(tx, scope, link);
  yield* followRestored(txOf(tx), pid, link);
  const set = { record: link, previousGameId: null };
  yield* record(tx, pid, linkSet({ ...write, via: "restore" }, set));
  return Option.some(link);
}

const byScope = ({ pid }: { readonly pid: Pid }) => pid;

/** The link of an entry in an index that has links only. */
const linkOf = ({ link }: StoredLink) => link as Link;

const findAll = <V>(
  db: Database,
  pid: Pid,
  chatIds: ReadonlyArray<ChatId>,
  valueOf: (stored: LinkRecord) => V | null,
) =>
  Effect.map(findRecords(db, pid, chatIds), (records) => {
    const found = new Map<ChatId, V>();
    for (const stored of records) {
      const value = stored === undefined ? null : valueOf(stored);
      if (stored !== undefined && value !== null) found.set(stored.chatId, value);
    }
    return found;
  });

function* moveChat(
  tx: Transaction,
  write: MoveChat,
): Effect.fn.Return<ChatMoved, Effect.Error<ReturnType<typeof refuseUnadmitted>>> {
  const { pid, oldChatId, newChatId, at } = write;
  const link = yield* findLink(tx, pid, oldChatId);
  if (link === undefined) return { _tag: "NoLink" };
  const { gameId } = link;
  if (oldChatId === newChatId) return { _tag: "Unchanged", gameId };
  yield* refuseUnadmitted(tx, pid, { chatId: newChatId, gameId, chatHash: write.chatHash }, oldChatId);
  const target = yield* findRecord(tx, pid, newChatId);
  if (target !== undefined && isLinked(target)) return { _tag: "Occupied" };
  const moved = linkedRecord(newChatId, target, gameId, at, "hand");
  const scope = yield* scopeAt(tx, pid);
  yield* putUnlinked(tx, scope, link, at);
  yield* putLink(tx, scope, moved);
  yield* record(tx, pid, linkMoved(write, moved, oldChatId));
  return { _tag: "Moved", gameId };
}

/** A new epoch of the scope deletes any number of records. What they leave is removed afterwards. */
const deleteScope = (db: Database) => {
  const run = keyedWrite<ScopeDeleted, DeleteScope, ManyVerifications>(
    db,
    keptDeletion,
    byScope,
    function* (tx, write) {
      const { pid, at } = write;
      const scope = yield* scopeAt(tx, pid);
      const ended = yield* endLastVerifications(tx, { pid, chatId: null, at });
      const records = yield* tx.count(links.byChat, [pid, scope.epoch]);
      yield* record(tx, pid, scopeDeleted(write, records));
      const { blockEpoch = scope.epoch, ...next } = { ...scope, epoch: scope.epoch + 1, blocking: [] };
      yield* tx.put(scopes, write.keepsBlocks === true ? { ...next, blockEpoch } : next);
      yield* tx.put(purges, { pid });
      yield* endImports(txOf(tx), pid);
      return { records, ended };
    },
  );
  return (write: DeleteScope) =>
    Effect.gen(function* () {
      // Also before: a node may die between the deletion and its purge.
      yield* forgetFiles(db, write.pid);
      const [deleted, before] = yield* endingVerifications(db, run(write));
      yield* purgeScope(db, write.pid);
      return withEnded(deleted, null, before);
    });
};
