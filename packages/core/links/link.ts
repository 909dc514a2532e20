import type { ChatId, GameId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import type { LinkProof } from "./link_proof.ts";

interface Versioned {
  readonly chatId: ChatId;
  /** 1 after the first link, plus one for each change of `gameId`. */
  readonly linkVersion: number;
  /** When `gameId` last changed; for imports, when it was verified. Sorts the chat users of a game user. */
  readonly linkedAt: Millis;
  /** When a verification or a write last confirmed the link. */
  readonly lastVerifiedAt: Millis;
  /** How the link was confirmed at `lastVerifiedAt`. */
  readonly proof: LinkProof;
}

export interface Link extends Versioned {
  readonly gameId: GameId;
}

/** @internal */
export interface Unlinked extends Versioned {
  readonly gameId: null;
}

/**
 * The record of a chat user in a scope. The record stays when the link is removed: `gameId` is then null, and the next
 * link continues the version numbers.
 */
export type LinkRecord = Link | Unlinked;

export const isLinked = (record: LinkRecord): record is Link => record.gameId !== null;
