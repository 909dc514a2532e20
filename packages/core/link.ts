/**
 * The record of one chat user in one data scope.
 */
import type { ChatId, GameId } from "./ids.ts";

/** Times are milliseconds since the Unix epoch. */
export type Millis = number;

/**
 * What a scope knows of one chat user. It outlives its link: with the game link removed, `gameId` is null and the
 * version goes on counting.
 */
export interface LinkRecord {
  readonly chatId: ChatId;
  readonly gameId: GameId | null;
  /** 1 after the first link; grows by one whenever `gameId` changes. */
  readonly linkVersion: number;
  /** When `gameId` last changed; orders the chat users of one game account, newest first. */
  readonly linkedAt: Millis;
  /** When a verification or a write last confirmed the link. */
  readonly lastVerifiedAt: Millis;
}

/** A record whose game link stands. */
export interface Link extends LinkRecord {
  readonly gameId: GameId;
}

/** Whether the record carries a game link. */
export const isLinked = (record: LinkRecord): record is Link => record.gameId !== null;
