import type { ChatId } from "@accountlink/core";
import {
  type BlockSet,
  BlockStore,
  blockedName,
  type LinkBlocked,
  mostBlocks,
  type SetBlock,
  type UserBlock,
} from "@accountlink/core/admission";
import { signedBy, withReason } from "@accountlink/core/audit";
import { Conflict } from "@accountlink/core/errors";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect, Order } from "effect";
import type { Transaction } from "../transaction.ts";
import { record } from "./audit_log.ts";
import { blocks } from "./blocks.ts";
import { removeLink } from "./link_store.ts";
import { links } from "./links.ts";
import { scopeAt, scopes } from "./scopes.ts";
import { storeLayer } from "./store_layer.ts";

export const layer = storeLayer(BlockStore, (db) => ({
  set: (write) =>
    db.write<BlockSet, Conflict>(write.pid, function* (tx) {
      const { pid, chatId, gameId, hash, reason, at } = write;
      const { epoch } = yield* scopeAt(tx, pid);
      assertStorable([reason ?? ""]);
      const isNew = (yield* tx.get(blocks, pid, epoch, hash)) === undefined;
      if (isNew && (yield* tx.count(blocks, [pid, epoch])) >= mostBlocks) {
        return yield* new Conflict({ reason: "block_limit" });
      }
      const block = { chatId, gameId, reason, at, member: signedBy(write).member };
      const details = withReason(blockedName(write), write);
      yield* record(tx, { ...write, action: "block.set", details });
      yield* tx.put(blocks, { pid, epoch, block: { ...block, hash } });
      return { block, removed: yield* removeLinks(tx, write, epoch) };
    }),

  remove: (write) =>
    db.write(write.pid, function* (tx) {
      const { pid, hash } = write;
      const { epoch } = yield* scopeAt(tx, pid);
      if ((yield* tx.get(blocks, pid, epoch, hash)) === undefined) return false;
      yield* record(tx, { ...write, action: "block.removed", details: blockedName(write) });
      yield* tx.remove(blocks, pid, epoch, hash);
      return true;
    }),

  findHashes: (pid, hashes) =>
    db.read(function* (tx) {
      const epoch = (yield* tx.get(scopes, pid))?.epoch ?? 0;
      const found = yield* tx.getAll(
        blocks,
        hashes.map((hash) => [pid, epoch, hash]),
      );
      return new Set(hashes.filter((_, index) => found[index] !== undefined));
    }),

  page: (pid, place, limit) =>
    db.read(function* (tx) {
      const epoch = (yield* tx.get(scopes, pid))?.epoch ?? 0;
      const options = { ...(place !== null && { after: [-place.at, place.hash] }), limit };
      return (yield* tx.list(blocks.newest, [pid, epoch], options)).map(({ block }) => block);
    }),

  ofUser: (chatId) =>
    db.read(function* (tx) {
      const found: Array<UserBlock> = [];
      for (const { pid, epoch, block } of yield* tx.list(blocks.byUser, [chatId])) {
        if (block.chatId !== chatId || (yield* tx.get(scopes, pid))?.epoch !== epoch) continue;
        found.push({ pid, at: block.at });
      }
      return found.toSorted((one, other) => Order.String(one.pid, other.pid));
    }),
}));

const removeLinks = Effect.fnUntraced(function* (tx: Transaction, write: SetBlock, epoch: number) {
  const { pid, chatId, gameId } = write;
  const linked: ReadonlyArray<ChatId> =
    chatId === null
      ? (yield* tx.list(links.byGame, [pid, epoch, gameId ?? ""])).map(({ link }) => link.chatId)
      : [chatId];
  const removed: Array<LinkBlocked> = [];
  for (const each of linked.toSorted()) {
    const ended = yield* removeLink(tx, { ...write, chatId: each });
    if (ended !== null) removed.push({ chatId: each, ...ended });
  }
  return removed;
});
