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

/**
 * A character for each number up to `0x10_f7_ff`, for `string({ unit: integer(characters).map(characterOf) })`. The unit
 * "binary" of `fast-check` would make a table of all characters, which takes a second in each worker.
 */
export const characterOf = (number: number): string =>
  String.fromCodePoint(number < 0xd8_00 ? number : number + 0x8_00);

export const characters = { min: 0, max: 0x10_f7_ff };
