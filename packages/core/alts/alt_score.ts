import { Schema } from "effect";
import { GameId } from "../ids.ts";
import { dayMs } from "../timestamp.ts";

/** One reason to think that two users are the same person. `weighEvidence` combines the reasons of a candidate. @internal */
export const AltEvidence = Schema.Union([
  /** A moderator marked both users as the same person. */
  Schema.Struct({ kind: Schema.Literal("review"), weight: Schema.Literal(1) }),
  /** The candidate is linked to a game user of the query or of the target. */
  Schema.Struct({ kind: Schema.Literal("game"), weight: Schema.Finite, gameId: GameId }),
  /**
   * The candidate was seen in a browser or at an address of a seed (see `AltReport`), or at the address of the query.
   */
  Schema.Struct({
    kind: Schema.Literals(["device", "address"]),
    weight: Schema.Finite,
    lastSeenAt: Schema.Int,
    /** How many chat users of the scope were seen in this browser or at this address. */
    chatUsers: Schema.Int,
  }),
]);
export type AltEvidence = typeof AltEvidence.Type;

/** @internal */
export const gameWeight = 0.9;

/**
 * A shared browser has this `weight` if the candidate was seen in it just now. The weight halves with each `halfLife`.
 * It is lowered if more than `users` chat users were seen in the browser.
 */
const device = { weight: 0.7, halfLife: 180 * dayMs, users: 10 } as const;

/**
 * A shared address has this `weight` if the candidate was seen there just now. The weight halves with each `halfLife`.
 * It is lowered if more than `users` chat users were seen at the address.
 */
const address = { weight: 0.35, halfLife: 90 * dayMs, users: 4 } as const;

const sharedNetworkWeight = 0.1;

/** The greatest combined weight of all shared addresses. */
const addressesTogether = 0.6;

/**
 * Returns the weight of one shared browser: `0.7 × 2^(−age in days / 180) × min(1, 10 / chat users)`.
 *
 * The weight never rises with age or users. A sighting in the future, from a wrong clock, counts as age 0. @internal
 */
export const weighDevice = ({ age, chatUsers }: SharedPlace): number =>
  device.weight * decay(age, device.halfLife) * Math.min(1, device.users / Math.max(1, chatUsers));

/**
 * Returns the weight of one shared address: `0.35 × 2^(−age in days / 90) × min(1, 4 / chat users)²`, and at most 0.1
 * on a shared network. The weight never rises with age or users. @internal
 */
export const weighAddress = ({
  age,
  chatUsers,
  isShared,
}: SharedPlace & { readonly isShared: boolean }): number => {
  const crowd = Math.min(1, address.users / Math.max(1, chatUsers)) ** 2;
  return Math.min(isShared ? sharedNetworkWeight : 1, address.weight * decay(age, address.halfLife) * crowd);
};

const decay = (age: number, halfLife: number): number => 2 ** (-Math.max(0, age) / halfLife);

interface SharedPlace {
  /** Milliseconds since the candidate was last seen at the place. */
  readonly age: number;
  readonly chatUsers: number;
}

/**
 * Combines the weights of all reasons to suspect a candidate. With a review as a reason, the result is 1. Otherwise,
 * the result is `1 − (1 − game) × (1 − device) × (1 − min(0.6, 1 − Π(1 − address)))`. Of several browsers, only the one
 * with the greatest weight counts. @internal
 */
export const weighEvidence = (evidence: ReadonlyArray<AltEvidence>): number => {
  const weightsOf = (kind: AltEvidence["kind"]) =>
    evidence.filter((each) => each.kind === kind).map(({ weight }) => weight);
  if (weightsOf("review").length > 0) return 1;
  const addresses = Math.min(addressesTogether, anyOf(weightsOf("address")));
  return anyOf([Math.max(0, ...weightsOf("game")), Math.max(0, ...weightsOf("device")), addresses]);
};

/**
 * Returns the probability that any of several independent events happens. A single probability is returned without
 * rounding errors.
 */
const anyOf = (weights: ReadonlyArray<number>): number => {
  const [only = 0, ...others] = weights.filter((weight) => weight > 0);
  return others.length === 0 ? only : 1 - [only, ...others].reduce((none, weight) => none * (1 - weight), 1);
};

export type AltSeverity = "LOW" | "MEDIUM" | "HIGH" | "CRITICAL";

/** The weights and counts from which `scoreAlts` computes a score. @internal */
export interface AltWeights {
  /** Weights of the listed matches. */
  readonly listed: ReadonlyArray<number>;
  /** Weights of the candidates that are not listed. Only the greatest of them matters, so the others may be omitted. */
  readonly unlisted: ReadonlyArray<number>;
  readonly addresses: number;
  /** How many of the addresses belong to a VPN. */
  readonly vpnAddresses: number;
}

export interface AltRisk {
  /** 0 to 100. */
  readonly score: number;
  readonly severity: AltSeverity;
  /** 0 to 100: the weight of the strongest candidate. */
  readonly alt: number;
  /** 0 to 100: the share of addresses that belong to a VPN. */
  readonly vpn: number;
  /** 0 to 1: the greatest weight of an unlisted candidate, if it exceeds the weight of every match; else 0. */
  readonly unlistedWeight: number;
}

/**
 * Scores an alt detection.
 *
 * ```
 * weight of a candidate = by `weighEvidence`
 * unlistedWeight        = the greatest weight of an unlisted candidate, if it exceeds every match; else 0
 * alt                   = round(100 × the greatest of unlistedWeight and the weights of the matches)
 * vpn                   = round(100 × VPN addresses / addresses), 0 without addresses
 * score                 = round(alt × (1 − vpn / 200))
 * severity              = LOW to 24, MEDIUM to 49, HIGH to 74, CRITICAL from 75
 * ```
 *
 * The strongest candidate decides: strangers at one address do not add up. A VPN halves the score at most: its users
 * share addresses with strangers.
 * @internal
 */
export const scoreAlts = ({ listed, unlisted, addresses, vpnAddresses }: AltWeights): AltRisk => {
  const [best, bestUnlisted] = [Math.max(0, ...listed), Math.max(0, ...unlisted)];
  const unlistedWeight = bestUnlisted > best ? bestUnlisted : 0;
  const alt = Math.round(100 * Math.max(best, unlistedWeight));
  const vpn = addresses === 0 ? 0 : Math.round((100 * vpnAddresses) / addresses);
  const score = Math.round(alt * (1 - vpn / 200));
  return { score, severity: severityOf(score), alt, vpn, unlistedWeight };
};

/** Returns the severity of a score from 0 to 100. @internal */
export const severityOf = (score: number): AltSeverity =>
  score < 25 ? "LOW" : score < 50 ? "MEDIUM" : score < 75 ? "HIGH" : "CRITICAL";
