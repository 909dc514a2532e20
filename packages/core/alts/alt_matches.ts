import type { ChatId, GameId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import type { AltCandidate } from "./alt_candidates.ts";
import { type AltEvidence, gameWeight, weighAddress, weighDevice, weighEvidence } from "./alt_evidence.ts";

/** @internal */
export const maxListedAlts = 25;

export interface WeighedAlt {
  readonly chatId: ChatId;
  readonly gameId: GameId | null;
  /** Combined weight of the evidence, 0 to 1. */
  readonly weight: number;
  /** The reasons for the match, strongest first; at least one. */
  readonly evidence: ReadonlyArray<AltEvidence>;
  /** The time that sorts matches: the latest shared sighting, else the link's last verification, else the review. */
  readonly freshness: Millis;
}

export interface AltPlace {
  readonly kind: "address" | "device";
  /** How many chat users of the scope were seen at the place. */
  readonly chatUsers: number;
  readonly isShared: boolean;
}

export const weighCandidate = (
  { chatId, record, visits, sharedGameId, sameSince }: AltCandidate,
  places: ReadonlyArray<AltPlace>,
  now: Millis,
): WeighedAlt => {
  const evidence: Array<AltEvidence> = [];
  if (sameSince !== null) evidence.push({ kind: "review", weight: 1 });
  if (sharedGameId !== null) evidence.push({ kind: "game", weight: gameWeight, gameId: sharedGameId });
  for (const { place, seenAt } of visits) {
    const known = places[place];
    if (known === undefined) continue;
    const { kind, chatUsers } = known;
    const weigh = kind === "device" ? weighDevice : weighAddress;
    const weight = weigh({ ...known, age: now - seenAt });
    evidence.push({ kind, weight, lastSeenAt: seenAt, chatUsers });
  }
  const lastSeenAt = visits.map(({ seenAt }) => seenAt);
  const lastVerifiedAt = sharedGameId === null ? undefined : record?.lastVerifiedAt;
  return {
    chatId,
    gameId: record?.gameId ?? null,
    weight: weighEvidence(evidence),
    evidence: evidence.toSorted((one, other) => other.weight - one.weight),
    freshness: lastSeenAt.length > 0 ? Math.max(...lastSeenAt) : (lastVerifiedAt ?? sameSince ?? 0),
  };
};

/** Sorts matches, most recent first. Matches of the same time are sorted by chat ID as a string. */
export const freshestFirst = (one: WeighedAlt, other: WeighedAlt): number =>
  other.freshness - one.freshness || (one.chatId < other.chatId ? -1 : 1);
