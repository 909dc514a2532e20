/** Computes scores from the matches and the risk in an answer about alts, by the formulas in docs/alts.md. */

export interface ExplainedAlts {
  readonly matches: ReadonlyArray<{ readonly weight: number }>;
  readonly risk: { readonly vpn: number; readonly unlistedWeight: number };
}

export const scoreOf = ({ matches, risk }: ExplainedAlts) => {
  const alt = Math.round(100 * Math.max(risk.unlistedWeight, ...matches.map(({ weight }) => weight)));
  const score = Math.round(alt * (1 - risk.vpn / 200));
  const severities = ["LOW", "MEDIUM", "HIGH", "CRITICAL"];
  return { score, severity: severities[Math.min(3, Math.floor(score / 25))], alt };
};

export interface ExplainedEvidence {
  readonly kind: string;
  readonly weight: number;
  readonly lastSeenAt: string | null;
  readonly chatUsers: number | null;
}

/** The weight of a match, computed from the weights of its evidence. */
export const weightOf = (evidence: ReadonlyArray<ExplainedEvidence>): number => {
  if (evidence.some(({ kind }) => kind === "review")) return 1;
  let [withoutAddresses, bestDevice, withoutGame] = [1, 0, 1];
  for (const { kind, weight } of evidence) {
    if (kind === "address") withoutAddresses *= 1 - weight;
    if (kind === "device") bestDevice = Math.max(bestDevice, weight);
    if (kind === "game") withoutGame = 1 - weight;
  }
  return 1 - withoutGame * (1 - bestDevice) * (1 - Math.min(0.6, 1 - withoutAddresses));
};

/**
 * Computes the weight of a piece of evidence from its other fields. The formula does not hold for addresses on a shared
 * network.
 */
export const evidenceWeightAt = ({ kind, lastSeenAt, chatUsers }: ExplainedEvidence, at: number): number => {
  if (kind === "review") return 1;
  if (kind === "game") return 0.9;
  const days = Math.max(0, at - Date.parse(String(lastSeenAt))) / 86_400_000;
  const users = Number(chatUsers);
  return kind === "device"
    ? 0.7 * 2 ** (-days / 180) * Math.min(1, 10 / users)
    : 0.35 * 2 ** (-days / 90) * Math.min(1, 4 / users) ** 2;
};
