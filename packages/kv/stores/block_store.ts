import type { GameId } from "@accountlink/core";
import {
  type BlockSet,
  BlockStore,
  blockedName,
  blockedPerStep,
  type LinkBlocked,
  mostBlocks,
  type UserBlock,
  writeOfBlock,
} from "@accountlink/core/admission";
import { signedBy, type WriteContext, withReason } from "@accountlink/core/audit";
import { Conflict } from "@accountlink/core/errors";
import { logged } from "@accountlink/core/journal";
import { assertStorable } from "@accountlink/core/storable_text";
import { Clock, Effect, Order } from "effect";
import { isFull } from "../steps.ts";
import type { Transaction } from "../transaction.ts";
import { blocks } from "./blocks.ts";
import { journal, record } from "./journal.ts";
import { removeLink } from "./link_store.ts";
import { links } from "./links.ts";
import { blockEpochOf, isBlocking, scopeAt, scopes, withScope } from "./scopes.ts";
import { storeLayer } from "./store_layer.ts";
import { endingVerifications, type ManyVerifications, withEnded } from "./verifications.ts";

export const layer = storeLayer(BlockStore, (db) => ({
  set: (write) => {
    const setOnce = db.write<BlockSet, Conflict | ManyVerifications>(write.pid, function* (tx) {
      const { pid, chatId, gameId, hash, reason, at } = write;
      const { epoch } = yield* scopeAt(tx, pid);
      const blockEpoch = yield* blockEpochOf(tx, pid);
      assertStorable([reason ?? ""]);
      const isNew = (yield* tx.get(blocks, pid, blockEpoch, hash)) === undefined;
      if (isNew && (yield* tx.count(blocks, [pid, blockEpoch])) >= mostBlocks) {
        return yield* new Conflict({ reason: "block_limit" });
      }
      const block = { chatId, gameId, reason, at, member: signedBy(write).member };
      const details = withReason(blockedName(write), write);
      const entry = yield* record(tx, pid, logged(write, "block.set", details));
      yield* tx.put(blocks, { pid, epoch: blockEpoch, block: { ...block, hash } });
      if (gameId === null) {
        const ended = yield* removeLink(tx, { ...write, chatId });
        return { block, removed: ended === null ? [] : [{ chatId, ...ended }], hasMore: false };
      }
      const { removed, hasMore } = yield* unlinkSome(tx, { ...write, gameId }, epoch);
      if (hasMore) {
        const scope = yield* scopeAt(tx, pid);
        const others = (scope.blocking ?? []).filter((removal) => removal.gameId !== gameId);
        yield* tx.put(scopes, { ...scope, blocking: [...others, { gameId, entry }] });
      }
      return { block, removed, hasMore };
    });
    return Effect.map(endingVerifications(db, setOnce), ([set, before]) => ({
      ...set,
      removed: set.removed.map((one) => withEnded(one, one.chatId, before)),
    }));
  },

  removals: () =>
    db.read(function* (tx) {
      const found = yield* tx.list(scopes.blocking, []);
      return yield* Effect.forEach(found, (scope) => withScope(tx, scope));
    }),

  removeLinks: Effect.fnUntraced(function* (pid) {
    const removal = db.write<ReadonlyArray<LinkBlocked>, ManyVerifications>(pid, function* (tx) {
      const scope = yield* tx.get(scopes, pid);
      const [next, ...others] = scope?.blocking ?? [];
      if (scope === undefined || next === undefined) return [];
      const block = yield* tx.get(journal, pid, next.entry);
      const now = yield* Clock.currentTimeMillis;
      const write = { ...writeOfBlock(block, now), pid, gameId: next.gameId };
      const { removed, hasMore } = yield* unlinkSome(tx, write, scope.epoch);
      if (!hasMore) yield* tx.put(scopes, { ...scope, blocking: others });
      return removed;
    });
    const [removed, before] = yield* endingVerifications(db, removal);
    return removed.map((one) => withEnded(one, one.chatId, before));
  }),

  remove: (write) =>
    db.write(write.pid, function* (tx) {
      const { pid, gameId, hash } = write;
      const epoch = yield* blockEpochOf(tx, pid);
      if ((yield* tx.get(blocks, pid, epoch, hash)) === undefined) return false;
      yield* record(tx, pid, logged(write, "block.removed", blockedName(write)));
      yield* tx.remove(blocks, pid, epoch, hash);
      const scope = yield* scopeAt(tx, pid);
      if (isBlocking(scope, gameId)) {
        const blocking = scope.blocking?.filter((removal) => removal.gameId !== gameId) ?? [];
        yield* tx.put(scopes, { ...scope, blocking });
      }
      return true;
    }),

  findHashes: (pid, hashes) =>
    db.read(function* (tx) {
      const epoch = yield* blockEpochOf(tx, pid);
      const found = yield* tx.getAll(blocks, hashes, (hash) => [pid, epoch, hash]);
      return new Set(hashes.filter((_, index) => found[index] !== undefined));
    }),

  page: (pid, place, limit) =>
    db.read(function* (tx) {
      const epoch = yield* blockEpochOf(tx, pid);
      const options = { ...(place !== null && { after: [-place.at, place.hash] }), limit };
      return (yield* tx.list(blocks.newest, [pid, epoch], options)).map(({ block }) => block);
    }),

  count: (pid) =>
    db.read(function* (tx) {
      return yield* tx.count(blocks, [pid, yield* blockEpochOf(tx, pid)]);
    }),

  ofUser: (chatId) =>
    db.read(function* (tx) {
      const named = (yield* tx.list(blocks.byUser, [chatId])).filter(({ block }) => block.chatId === chatId);
      const found = yield* Effect.filter(named, ({ pid, epoch }) =>
        Effect.map(blockEpochOf(tx, pid), (current) => current === epoch),
      );
      return found
        .map(({ pid, block }): UserBlock => ({ pid, at: block.at }))
        .toSorted((one, other) => Order.String(one.pid, other.pid));
    }),
}));

/** Removes the first links of a blocked game user. Returns whether links may be left. */
const unlinkSome = Effect.fnUntraced(function* (
  tx: Transaction,
  write: WriteContext & { readonly gameId: GameId; readonly reason: string | null },
  epoch: number,
) {
  const { pid, gameId } = write;
  const found = yield* tx.list(links.byGame, [pid, epoch, gameId], { limit: blockedPerStep });
  const removed: Array<LinkBlocked> = [];
  for (const chatId of found.map(({ link }) => link.chatId).toSorted()) {
    if (removed.length > 0 && isFull(tx)) return { removed, hasMore: true };
    const ended = yield* removeLink(tx, { ...write, chatId });
    if (ended !== null) removed.push({ chatId, ...ended });
  }
  return { removed, hasMore: found.length === blockedPerStep };
});
