import type { ChatId, GameId, Pid } from "@accountlink/core";
import { Conflict } from "@accountlink/core/errors";
import type { Memory } from "./state.ts";

/** The users of a link that a write would make. */
interface LinkToCheck {
  readonly chatId: ChatId;
  readonly gameId: GameId;
  /** Finds the block of an erased chat user. */
  readonly chatHash?: string | undefined;
}

export const isBlocked = (memory: Memory, pid: Pid, { chatId, gameId, chatHash }: LinkToCheck): boolean => {
  const blocks = memory.blocks.get(pid);
  if (blocks === undefined || blocks.size === 0) return false;
  if (chatHash !== undefined && blocks.has(chatHash)) return true;
  return [...blocks.values()].some((block) => block.chatId === chatId || block.gameId === gameId);
};

/** Throws a `Conflict`, with which `keyedWrite` fails. */
export const refuseBlocked = (memory: Memory, pid: Pid, link: LinkToCheck): void => {
  if (isBlocked(memory, pid, link)) throw new Conflict({ reason: "blocked" });
};
