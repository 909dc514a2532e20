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
