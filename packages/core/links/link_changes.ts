/** The rule by which a link record changes. Stores apply it to a record that they have locked. */
import type { ChatId, GameId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import { type Link, type LinkRecord, provenAt } from "./link.ts";
import { isOwnProof, isProven, type LinkProof } from "./link_proof.ts";

/** Returns the record of a chat user after a change of its `gameId`. @internal */
export const linkedRecord = (
  chatId: ChatId,
  previous: LinkRecord | undefined,
  gameId: GameId,
  at: Millis,
  proof: LinkProof,
): Link => ({
  chatId,
  gameId,
  linkVersion: (previous?.linkVersion ?? 0) + 1,
  linkedAt: at,
  lastVerifiedAt: at,
  proof,
});

/**
 * Returns the record of a link after a write that names its game user. A write without a proof keeps an earlier proof of
 * the account, and one with the word of others keeps the user's own. @internal
 */
export const confirmedRecord = (link: Link, lastVerifiedAt: Millis, proof: LinkProof): Link => {
  const { provenAt: _, ...rest } = link;
  const isAsGood = isOwnProof(link.proof) ? isOwnProof(proof) : isProven(proof);
  const proven = isAsGood ? null : provenAt(link);
  return proven === null
    ? { ...rest, lastVerifiedAt, proof }
    : { ...rest, lastVerifiedAt, proof: link.proof, provenAt: proven };
};
