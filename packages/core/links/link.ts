import type { ChatId, GameId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import { isProven, type LinkProof } from "./link_proof.ts";

interface Versioned {
  readonly chatId: ChatId;
  /** 1 after the first link, plus one for each change of `gameId`. */
  readonly linkVersion: number;
  /** When `gameId` last changed; for imports, when it was verified. Sorts the chat users of a game user. */
  readonly linkedAt: Millis;
  /** When a verification or a write last confirmed the link. */
  readonly lastVerifiedAt: Millis;
  /** How the link was confirmed: by the last proof of the game account, else by the last write. */
  readonly proof: LinkProof;
  /** When the account was proven, if a write without a proof has confirmed the link since. See `provenAt`. */
  readonly provenAt?: Millis;
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

/** The `linkedAt` of a record whose user was never linked. @internal */
export const noTime = -1;

/**
 * Whether a chat user is or was linked. The record of a link that an undone import made has `noTime`: that link was
 * none. @internal
 */
export const isOrWasLinked = (record: LinkRecord): boolean => isLinked(record) || record.linkedAt !== noTime;

export const isLinked = (record: LinkRecord): record is Link => record.gameId !== null;

/** Returns when the chat user proved the game account of a link; null if the user has not. @internal */
export const provenAt = ({ proof, provenAt: at, lastVerifiedAt }: LinkRecord): Millis | null =>
  isProven(proof) ? (at ?? lastVerifiedAt) : null;
