/** Why a chat user may be the same person as the target, and how much each reason weighs. */
import type { GameId } from "../ids.ts";
import { dayMs, type Millis } from "../timestamp.ts";

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

/** The candidate was seen in one of the browsers, or at one of the addresses, in which the target was seen. */
export interface PlaceEvidence {
  readonly kind: "device" | "address";
  readonly weight: number;
  /** When the candidate was last seen there. */
  readonly lastSeenAt: Millis;
  /** How many chat users of the scope were seen there, the target and the candidate among them. */
  readonly chatUsers: number;
}

/** One reason. `weighEvidence` says what all reasons of a candidate weigh. */
export type AltEvidence = ReviewEvidence | GameEvidence | PlaceEvidence;

/** The weight of a game user in common. */
export const gameWeight = 0.9;

/** A browser in common: its weight now, when half of it is left, and how many users leave it whole. */
const device = { weight: 0.7, halfLife: 180 * dayMs, users: 10 } as const;

/** An address in common. */
const address = { weight: 0.35, halfLife: 90 * dayMs, users: 4 } as const;

/** The most that an address of a shared network weighs. */
const sharedNetworkWeight = 0.1;

/** The most that all addresses in common weigh together. */
const addressesTogether = 0.6;

/**
 * The weight of one browser in common: `0.7 × 2^(−age in days / 180) × min(1, 10 / chat users)`.
 *
 * It never rises with the age or with the number of users. A sighting in the future, which only a clock that is wrong
 * can give, is as old as one of now.
 */
export const weighDevice = ({ age, chatUsers }: SharedPlace): number =>
  device.weight * decay(age, device.halfLife) * Math.min(1, device.users / Math.max(1, chatUsers));

/**
 * The weight of one address in common: `0.35 × 2^(−age in days / 90) × min(1, 4 / chat users)²`, and at most 0.1 on a
 * shared network. Like that of a browser it never rises with the age or with the number of users.
 *
 * @internal
 */
export const weighAddress = ({ age, chatUsers, isShared }: SharedAddress): number => {
  const crowd = Math.min(1, address.users / Math.max(1, chatUsers)) ** 2;
  return Math.min(isShared ? sharedNetworkWeight : 1, address.weight * decay(age, address.halfLife) * crowd);
};

const decay = (age: number, halfLife: number): number => 2 ** (-Math.max(0, age) / halfLife);

/** What the weight of a browser depends on. */
interface SharedPlace {
  /** Time since the candidate was last seen there, in milliseconds. */
  readonly age: number;
  readonly chatUsers: number;
}

/** What the weight of an address depends on. */
interface SharedAddress extends SharedPlace {
  /** Whether it is on a shared network. */
  readonly isShared: boolean;
}

/**
 * The weight of all reasons of a candidate: 1 with a review, else
 * `1 − (1 − game) × (1 − device) × (1 − min(0.6, 1 − Π(1 − address)))`, where of several browsers the best counts.
 */
export const weighEvidence = (evidence: ReadonlyArray<AltEvidence>): number => {
  const weightsOf = (kind: AltEvidence["kind"]) =>
    evidence.filter((each) => each.kind === kind).map(({ weight }) => weight);
  if (weightsOf("review").length > 0) return 1;
  const addresses = Math.min(addressesTogether, anyOf(weightsOf("address")));
  return anyOf([Math.max(0, ...weightsOf("game")), Math.max(0, ...weightsOf("device")), addresses]);
};

/** The probability that any of independent events happens. A single one keeps its probability, unrounded. */
const anyOf = (weights: ReadonlyArray<number>): number => {
  const [only = 0, ...others] = weights.filter((weight) => weight > 0);
  return others.length === 0 ? only : 1 - [only, ...others].reduce((none, weight) => none * (1 - weight), 1);
};
