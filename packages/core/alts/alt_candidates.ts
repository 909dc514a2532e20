import { groupBy } from "../group_by.ts";
import type { ChatId, GameId } from "../ids.ts";
import type { LinkRecord } from "../links/link.ts";
import type { Millis } from "../timestamp.ts";
import type { AltReview } from "./alt_review_store.ts";
import { type AltEvidence, gameWeight, weighAddress, weighDevice, weighEvidence } from "./alt_score.ts";

/** The last time that a chat user was seen at a place. `place` is an index into the list of addresses and browsers. */
interface Visit {
  readonly place: number;
  readonly seenAt: Millis;
}

/** A chat user who may be an alt, and the reasons: shared places, a shared game user, or a review. */
export interface AltCandidate {
  readonly chatId: ChatId;
  readonly record: LinkRecord | undefined;
  /** The candidate's last visit to each address or browser of the seeds (see `AltReport`) and of the query. */
  readonly visits: ReadonlyArray<Visit>;
  /** The candidate's linked game user if it is one of `CandidateSources.games`, or null. */
  readonly sharedGameId: GameId | null;
  /** When a moderator marked both users as the same person, or null. */
  readonly sameSince: Millis | null;
}

export interface CandidateSources {
  /** The chat user whose alts are searched, if known. This user is never a candidate. */
  readonly target: ChatId | null;
  readonly games: ReadonlyArray<GameId>;
  readonly visits: ReadonlyArray<Visit & { readonly chatId: ChatId }>;
  readonly records: ReadonlyMap<ChatId, LinkRecord>;
}

/** Returns the chat users who are in `visits` or linked to one of `games`, without the target. */
export const findCandidates = ({
  target,
  games,
  visits,
  records,
}: CandidateSources): ReadonlyArray<AltCandidate> => {
  const visitsOf = groupBy(visits, ({ chatId }) => chatId);
  const candidates: Array<AltCandidate> = [];
  for (const chatId of new Set([...visitsOf.keys(), ...records.keys()])) {
    const record = records.get(chatId);
    const gameId = record?.gameId ?? null;
    const sharedGameId = gameId !== null && games.includes(gameId) ? gameId : null;
    const own = latestVisits(visitsOf.get(chatId) ?? []);
    if (chatId === target || (own.length === 0 && sharedGameId === null)) continue;
    candidates.push({ chatId, record, visits: own, sharedGameId, sameSince: null });
  }
  return candidates;
};

/**
 * Keeps only a user's latest visit to each address or browser. The input may have two visits to one address, because a
 * rotation of address keys may store the same address of a user twice.
 */
const latestVisits = (visits: ReadonlyArray<Visit>): ReadonlyArray<Visit> => {
  const latest = new Map<number, Millis>();
  for (const { place, seenAt } of visits) latest.set(place, Math.max(seenAt, latest.get(place) ?? seenAt));
  return Array.from(latest, ([place, seenAt]) => ({ place, seenAt }));
};

/**
 * Removes candidates that a moderator marked as different from the target, and marks or adds candidates marked as the
 * same person.
 *
 * @param reviews the reviews of the target
 * @param records link records by chat ID, also of every user marked as the same person
 */
export const reviewCandidates = (
  candidates: ReadonlyArray<AltCandidate>,
  reviews: ReadonlyArray<AltReview>,
  records: CandidateSources["records"],
): ReadonlyArray<AltCandidate> => {
  const byChatId = new Map(candidates.map((candidate) => [candidate.chatId, candidate]));
  for (const { otherChatId: chatId, verdict, at } of reviews) {
    if (verdict === "different") {
      byChatId.delete(chatId);
      continue;
    }
    const record = records.get(chatId);
    const candidate = byChatId.get(chatId) ?? { chatId, record, visits: [], sharedGameId: null };
    byChatId.set(chatId, { ...candidate, sameSince: at });
  }
  return [...byChatId.values()];
};

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
