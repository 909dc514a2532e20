/**
 * The score of an explained answer, computed as docs/alts.md says and from nothing but the answer.
 */

/** What of an answer is needed, in `data` of v2. */
export interface ExplainedAlts {
  readonly matches: ReadonlyArray<{ readonly evidence: ReadonlyArray<{ readonly weight: number }> }>;
  readonly risk: { readonly vpn: number; readonly unlistedWeight: number };
}

export const scoreOf = ({ matches, risk }: ExplainedAlts) => {
  let none = 1 - risk.unlistedWeight;
  for (const { evidence } of matches) none *= 1 - (evidence[0]?.weight ?? 0);
  const alt = Math.round(100 * (1 - none));
  const score = Math.round(alt * (1 - risk.vpn / 200));
  const severities = ["LOW", "MEDIUM", "HIGH", "CRITICAL"];
  return { score, severity: severities[Math.min(3, Math.floor(score / 25))], alt };
};
