import { isProof } from "./is_proof.ts";

const given = process.env["ACCOUNTLINK_TEST_SEED"];

/**
 * Options of property tests that take long on real storage: how many random inputs `npm test` and the proof check. A
 * failure prints its seed; with this seed as ACCOUNTLINK_TEST_SEED, a run repeats the same inputs.
 */
export const randomRuns = (inTest: number, inProof: number): { runs: number; seed?: number } => ({
  runs: isProof ? inProof : inTest,
  ...(given === undefined ? {} : { seed: Number(given) }),
});
