/**
 * The score of an alt detection.
 */

/** How severe a score is. */
export type AltSeverity = "LOW" | "MEDIUM" | "HIGH" | "CRITICAL";

/** What a score is made of. */
export interface AltWeights {
  /** The best weight of each match that is returned, in their order. */
  readonly listed: ReadonlyArray<number>;
  /** The best weight of each candidate that is scored and not returned. */
  readonly unlisted: ReadonlyArray<number>;
  /** How many addresses were looked at. */
  readonly addresses: number;
  /** How many of them belong to a VPN. */
  readonly vpnAddresses: number;
}

export interface AltRisk {
  /** 0 to 100. */
  readonly score: number;
  readonly severity: AltSeverity;
  /** 0 to 100: how sure it is that the target has another account. */
  readonly alt: number;
  /** 0 to 100: the share of the addresses that belong to a VPN. */
  readonly vpn: number;
  /** 0 to 1: what the candidates that are not returned weigh together. */
  readonly unlistedWeight: number;
}

/**
 * Scores an alt detection.
 *
 * ```
 * weight of a candidate = its best reason: review 1, game 0.9, address as `weighAddress` says
 * unlistedWeight        = 1 − Π(1 − weight) over the candidates that are not returned
 * alt                   = round(100 × (1 − (1 − unlistedWeight) × Π(1 − weight) over the matches))
 * vpn                   = round(100 × VPN addresses / addresses), 0 without addresses
 * score                 = round(alt × (1 − vpn / 200))
 * severity              = LOW to 24, MEDIUM to 49, HIGH to 74, CRITICAL from 75
 * ```
 *
 * `alt` is the probability that at least one candidate is the same person, were the weights probabilities of
 * independent events. A VPN halves the score at most: its users share addresses with strangers.
 *
 * @example
 * ```ts
 * scoreAlts({ listed: [0.9, 0.5], unlisted: [], addresses: 2, vpnAddresses: 1 });
 * // { score: 71, severity: "HIGH", alt: 95, vpn: 50, unlistedWeight: 0 }
 * ```
 */
export const scoreAlts = ({ listed, unlisted, addresses, vpnAddresses }: AltWeights): AltRisk => {
  const unlistedWeight = 1 - noneOf(unlisted);
  const alt = Math.round(100 * (1 - (1 - unlistedWeight) * noneOf(listed)));
  const vpn = addresses === 0 ? 0 : Math.round((100 * vpnAddresses) / addresses);
  const score = Math.round(alt * (1 - vpn / 200));
  return { score, severity: severityOf(score), alt, vpn, unlistedWeight };
};

/** The probability that none of independent events happens. */
const noneOf = (weights: ReadonlyArray<number>): number =>
  weights.reduce((product, weight) => product * (1 - weight), 1);

const severityOf = (score: number): AltSeverity =>
  score < 25 ? "LOW" : score < 50 ? "MEDIUM" : score < 75 ? "HIGH" : "CRITICAL";
