/**
 * Why a chat user may be the same person as the target, and how much each reason weighs.
 */
import type { GameId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";

/** A moderator has said that both are the same person. */
export interface ReviewEvidence {
  readonly kind: "review";
  readonly weight: 1;
}

/** Both are linked to one game user. */
export interface GameEvidence {
  readonly kind: "game";
  readonly weight: number;
  readonly gameId: GameId;
}

/** The candidate was seen at one of the target's addresses. */
export interface AddressEvidence {
  readonly kind: "address";
  readonly weight: number;
  /** When the candidate was last seen there. */
  readonly lastSeenAt: Millis;
  /** How many chat users of the scope were seen there, the target and the candidate among them. */
  readonly chatUsers: number;
}

/** One reason. A candidate weighs as much as the strongest of its reasons. */
export type AltEvidence = ReviewEvidence | GameEvidence | AddressEvidence;

const dayMs = 86_400_000;

/** How long it takes an address to lose half of its weight, in milliseconds. */
const addressHalfLife = 90 * dayMs;

/** How many chat users an address may have without losing weight, such as a household. */
const householdSize = 4;

/** The weight of a game user in common. */
export const gameWeight = 0.9;

/** The weight of an address in common that is seen right now and that few people have. */
const addressWeight = 0.5;

/** The most that an address of a shared network weighs. */
const sharedNetworkWeight = 0.1;

/**
 * The weight of one address in common: `0.5 × 2^(−age in days / 90) × min(1, 4 / chat users)`, and at most 0.1 on a
 * shared network.
 *
 * It never rises with the age or with the number of users. A sighting in the future, which only a clock that is wrong
 * can give, is as old as one of now.
 *
 * @example
 * ```ts
 * const day = 86_400_000;
 * weighAddress({ age: 0, chatUsers: 2, isShared: false }); // 0.5
 * weighAddress({ age: 90 * day, chatUsers: 8, isShared: false }); // 0.125
 * weighAddress({ age: 0, chatUsers: 2, isShared: true }); // 0.1
 * ```
 */
export const weighAddress = ({ age, chatUsers, isShared }: SharedAddress): number => {
  const decay = 2 ** (-Math.max(0, age) / addressHalfLife);
  const crowd = Math.min(1, householdSize / Math.max(1, chatUsers));
  return Math.min(isShared ? sharedNetworkWeight : 1, addressWeight * decay * crowd);
};

/** What the weight of an address depends on. */
export interface SharedAddress {
  /** Time since the candidate was last seen there, in milliseconds. */
  readonly age: number;
  readonly chatUsers: number;
  readonly isShared: boolean;
}

/** The weight of the strongest reason; 0 without one. */
export const bestWeight = (evidence: ReadonlyArray<AltEvidence>): number =>
  evidence.reduce((best, { weight }) => Math.max(best, weight), 0);
