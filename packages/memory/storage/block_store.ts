import {
  BlockStore,
  blockedName,
  type LinkBlocked,
  mostBlocks,
  type SetBlock,
} from "@accountlink/core/admission";
import { signedBy, withReason } from "@accountlink/core/audit";
import { Conflict } from "@accountlink/core/errors";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect, Order } from "effect";
import { removeLink } from "./link_store.ts";
import { layerOf, type Memory } from "./state.ts";

export const layer = layerOf(BlockStore, (memory) => ({
  set: (write) =>
    Effect.suspend(() => {
      const { pid, chatId, gameId, hash, reason, at } = write;
      const blocks = memory.blocksOf(pid);
      assertStorable([reason ?? ""]);
      if (!blocks.has(hash) && blocks.size >= mostBlocks) return new Conflict({ reason: "block_limit" });
      const block = { chatId, gameId, reason, at, member: signedBy(write).member };
      memory.record({ ...write, action: "block.set", details: withReason(blockedName(write), write) });
      blocks.set(hash, { ...block, hash });
      return Effect.succeed({ block, removed: removeLinks(memory, write) });
    }),

  remove: (write) => {
    const blocks = memory.blocksOf(write.pid);
    if (!blocks.has(write.hash)) return false;
    memory.record({ ...write, action: "block.removed", details: blockedName(write) });
    return blocks.delete(write.hash);
  },

  findHashes: (pid, hashes) => new Set(hashes.filter((hash) => memory.blocks.get(pid)?.has(hash))),

  page: (pid, place, limit) =>
    [...(memory.blocks.get(pid)?.values() ?? [])]
      .toSorted(newestFirst)
      .filter((block) => place === null || newestFirst(place, block) < 0)
      .slice(0, limit),

  scopesOf: (chatId) =>
    [...memory.blocks]
      .filter(([, blocks]) => [...blocks.values()].some((block) => block.chatId === chatId))
      .map(([pid]) => pid)
      .toSorted(),
}));

const removeLinks = (memory: Memory, write: SetBlock): ReadonlyArray<LinkBlocked> => {
  const { pid, chatId, gameId } = write;
  const linked =
    chatId === null
      ? memory
          .linksOf(pid)
          .linksTo(gameId)
          .map((link) => link.chatId)
      : [chatId];
  return linked.toSorted().flatMap((each) => {
    const removed = removeLink(memory, { ...write, chatId: each });
    return removed === null ? [] : [{ chatId: each, ...removed }];
  });
};

interface Place {
  readonly at: number;
  readonly hash: string;
}

const newestFirst = (one: Place, other: Place): number =>
  other.at - one.at || Order.String(one.hash, other.hash);
