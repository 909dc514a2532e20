/** The steps from candidates to the matches of an answer. */
import type { ChatId, GameId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import type { AltCandidate } from "./alt_candidates.ts";
import { type AltEvidence, gameWeight, weighAddress, weighDevice, weighEvidence } from "./alt_evidence.ts";

/** How many matches one answer has at most. */
export const maxListedAlts = 25;

/** A candidate with its weight. */
export interface WeighedAlt {
  readonly chatId: ChatId;
  readonly gameId: GameId | null;
  /** 0 to 1: what the evidence weighs together. */
  readonly weight: number;
  /** The strongest first; at least one. */
  readonly evidence: ReadonlyArray<AltEvidence>;
  /** What orders the matches: the latest sighting in common, else the link's last verification, else the review. */
  readonly freshness: Millis;
}

/** What is known of one of the addresses or browsers. */
export interface AltPlace {
  readonly kind: "address" | "device";
  /** How many chat users of the scope were seen there. */
  readonly chatUsers: number;
  /** Whether it is an address on a shared network. */
  readonly isShared: boolean;
}

/** Weighs what a candidate has in common with the target. */
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

/** The order of the matches: the freshest first, ties by chat ID as strings. */
export const freshestFirst = (one: WeighedAlt, other: WeighedAlt): number =>
  other.freshness - one.freshness || (one.chatId < other.chatId ? -1 : 1);
