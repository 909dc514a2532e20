/**
 * The steps from candidates to the matches of an answer.
 */
import type { ChatId, GameId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import type { AltCandidate } from "./alt_candidates.ts";
import { type AltEvidence, gameWeight, weighAddress } from "./alt_evidence.ts";

/** How many matches one answer has at most. */
export const maxListedAlts = 25;

/** A candidate with its weight. */
export interface WeighedAlt {
  readonly chatId: ChatId;
  readonly gameId: GameId | null;
  /** The strongest first; at least one. */
  readonly evidence: ReadonlyArray<AltEvidence>;
  /** What orders the matches: the latest sighting on a shared address, else the link's last verification, else the review. */
  readonly freshness: Millis;
}

/** What is known of one of the addresses. */
export interface AltAddress {
  /** How many chat users of the scope were seen there. */
  readonly chatUsers: number;
  /** Whether it is on a shared network. */
  readonly isShared: boolean;
}

/** Weighs what a candidate has in common with the target. */
export const weighCandidate = (
  { chatId, record, visits, sharedGameId, sameSince }: AltCandidate,
  addresses: ReadonlyArray<AltAddress>,
  now: Millis,
): WeighedAlt => {
  const evidence: Array<AltEvidence> = visits.flatMap(({ address, seenAt }) => {
    const known = addresses[address];
    if (known === undefined) return [];
    const weight = weighAddress({ ...known, age: now - seenAt });
    return [{ kind: "address", weight, lastSeenAt: seenAt, chatUsers: known.chatUsers }];
  });
  if (sharedGameId !== null) evidence.push({ kind: "game", weight: gameWeight, gameId: sharedGameId });
  if (sameSince !== null) evidence.push({ kind: "review", weight: 1 });
  const lastSeenAt = visits.map(({ seenAt }) => seenAt);
  const lastVerifiedAt = sharedGameId === null ? undefined : record?.lastVerifiedAt;
  return {
    chatId,
    gameId: record?.gameId ?? null,
    evidence: evidence.toSorted((one, other) => other.weight - one.weight),
    freshness: lastSeenAt.length > 0 ? Math.max(...lastSeenAt) : (lastVerifiedAt ?? sameSince ?? 0),
  };
};

/** Splits weighed candidates into the 25 freshest, in that order, and the others. */
export const trimAlts = (
  alts: ReadonlyArray<WeighedAlt>,
): { readonly listed: ReadonlyArray<WeighedAlt>; readonly unlisted: ReadonlyArray<WeighedAlt> } => {
  const sorted = alts.toSorted(
    (one, other) => other.freshness - one.freshness || (one.chatId < other.chatId ? -1 : 1),
  );
  return { listed: sorted.slice(0, maxListedAlts), unlisted: sorted.slice(maxListedAlts) };
};
