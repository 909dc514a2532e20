/** The rule by which a link record changes. Stores apply it to a record that they have locked. */
import type { ChatId, GameId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import type { Link, LinkRecord } from "./link.ts";
import type { LinkProof } from "./link_proof.ts";

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
