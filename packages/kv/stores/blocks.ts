import type { ChatId, GameId, Pid } from "@accountlink/core";
import type { StoredBlock } from "@accountlink/core/admission";
import { Conflict } from "@accountlink/core/errors";
import { Effect } from "effect";
import { changeSome } from "../steps.ts";
import { table } from "../table.ts";
import type { Transaction } from "../transaction.ts";
import { blockEpochOf, type OfEpoch } from "./scopes.ts";

export interface KeptBlock extends OfEpoch {
  readonly block: StoredBlock;
}

export const blocks = table<KeptBlock>()(
  "block",
  ({ pid, epoch, block }) => [pid, epoch, block.hash],
  {
    named: {
      keys: ({ pid, epoch, block: { chatId, gameId, hash } }) => [
        ...(chatId === null ? [] : [[pid, epoch, "chat", chatId, hash]]),
        ...(gameId === null ? [] : [[pid, epoch, "game", gameId, hash]]),
      ],
      group: 1,
    },
    newest: { keys: ({ pid, epoch, block }) => [[pid, epoch, -block.at, block.hash]] },
    byUser: {
      keys: ({ pid, epoch, block: { chatId, member, hash } }) =>
        [...new Set([chatId, member])].flatMap((id) => (id === null ? [] : [[id, pid, epoch, hash]])),
      group: 1,
    },
  },
  1,
);

/** The users of a link that a write would make. */
export interface LinkToCheck {
  readonly chatId: ChatId;
  readonly gameId: GameId;
  /** Makes the hash that finds the block of an erased chat user. */
  readonly chatHash?: Effect.Effect<string> | undefined;
}

export const isBlocked = Effect.fnUntraced(function* (
  tx: Transaction,
  pid: Pid,
  { chatId, gameId, chatHash }: LinkToCheck,
) {
  const epoch = yield* blockEpochOf(tx, pid);
  const first = (kind: string, id: string) =>
    Effect.map(tx.list(blocks.named, [pid, epoch, kind, id], { limit: 1 }), ([found]) => found);
  const erased =
    chatHash === undefined
      ? Effect.undefined
      : Effect.flatMap(chatHash, (hash) => tx.get(blocks, pid, epoch, hash));
  const found = yield* Effect.all([first("chat", chatId), first("game", gameId), erased], {
    concurrency: "unbounded",
  });
  return found.some((block) => block !== undefined);
});

export const refuseBlocked = Effect.fnUntraced(function* (tx: Transaction, pid: Pid, link: LinkToCheck) {
  if (yield* isBlocked(tx, pid, link)) return yield* new Conflict({ reason: "blocked" });
});

/** Returns whether a link would name a blocked user. Reads the blocks of the scope once, for a check of many links. */
export const blockTest = Effect.fnUntraced(function* (tx: Transaction, pid: Pid) {
  const epoch = yield* blockEpochOf(tx, pid);
  const blocked = (yield* tx.scan(blocks, [pid, epoch])).map(({ block }) => block);
  const chatIds = new Set(blocked.map(({ chatId }) => chatId));
  const gameIds = new Set(blocked.map(({ gameId }) => gameId));
  return ({ chatId, gameId }: Pick<LinkToCheck, "chatId" | "gameId">) =>
    chatIds.has(chatId) || gameIds.has(gameId);
});

/** Takes a chat user out of blocks until the step ends, and returns whether more may be left. */
export const eraseFromBlocks = (tx: Transaction, chatId: ChatId, isAtEnd: (tx: Transaction) => boolean) => {
  const erase = (kept: KeptBlock) => {
    const { block } = kept;
    const isTheirs = block.chatId === chatId;
    const member = block.member === chatId ? null : block.member;
    const left = { ...block, ...(isTheirs && { chatId: null, reason: null }), member };
    return tx.put(blocks, { ...kept, block: left });
  };
  return changeSome(tx, blocks.byUser, [chatId], erase, isAtEnd);
};
