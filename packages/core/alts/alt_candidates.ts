/** Who may be the same person as the target: the steps from what the stores hold to candidates. */
import { groupBy } from "../group_by.ts";
import type { ChatId, GameId } from "../ids.ts";
import type { LinkRecord } from "../links/link.ts";
import type { Millis } from "../timestamp.ts";
import type { AltReview } from "./alt_review.ts";

/** A chat user was last seen in one of the places (addresses and browsers), told by its index among them. */
interface Visit {
  readonly place: number;
  readonly seenAt: Millis;
}

/** A chat user with what they have in common with the target. */
export interface AltCandidate {
  readonly chatId: ChatId;
  readonly record: LinkRecord | undefined;
  /** At most one for each place. */
  readonly visits: ReadonlyArray<Visit>;
  /** The game user that both are linked to, or null. */
  readonly sharedGameId: GameId | null;
  /** When a moderator called both the same person, or null. */
  readonly sameSince: Millis | null;
}

/** What the stores hold about possible candidates. */
export interface CandidateSources {
  /** Not a candidate; null when nobody is asked about. */
  readonly target: ChatId | null;
  readonly games: ReadonlyArray<GameId>;
  readonly visits: ReadonlyArray<Visit & { readonly chatId: ChatId }>;
  readonly records: ReadonlyMap<ChatId, LinkRecord>;
}

/** Everybody but the target who was seen in one of the places or is linked to one of the games. */
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

/** While address keys are rotated, a user may be stored at one address under two of them. */
const latestVisits = (visits: ReadonlyArray<Visit>): ReadonlyArray<Visit> => {
  const latest = new Map<number, Millis>();
  for (const { place, seenAt } of visits) latest.set(place, Math.max(seenAt, latest.get(place) ?? seenAt));
  return Array.from(latest, ([place, seenAt]) => ({ place, seenAt }));
};

/**
 * Takes out whoever a moderator called different from the target, and marks or adds those called the same.
 *
 * @param reviews those of the target
 * @param records the records of those called the same, among others
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
