import type { ChatId, GameId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";

/** The record of a chat user in a scope. It outlives the link: `gameId` becomes null, and the version continues. */
export interface LinkRecord {
  readonly chatId: ChatId;
  readonly gameId: GameId | null;
  /** 1 after the first link, plus one for each change of `gameId`. */
  readonly linkVersion: number;
  /** When `gameId` last changed. Sorts the chat users of a game account, newest first. */
  readonly linkedAt: Millis;
  /** When a verification or a write last confirmed the link. */
  readonly lastVerifiedAt: Millis;
}

export interface Link extends LinkRecord {
  readonly gameId: GameId;
}

export const isLinked = (record: LinkRecord): record is Link => record.gameId !== null;
