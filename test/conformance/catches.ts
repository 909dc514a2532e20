/** Which case of the conformance suites catches a mutant. */
import { type CaseResult, runSuites, storageSuites } from "@accountlink/conformance";
import { StorageMemory } from "@accountlink/storage-memory";
import { layerOf } from "./mutant_loader.ts";
import type { Mutant } from "./mutants/mod.ts";

/** Runs until the first failure. Null if every case passes. */
export const catchOf = async (mutant: Mutant): Promise<CaseResult | null> => {
  const layer = await layerOf(mutant);
  const results = runSuites(
    (test) => storageSuites({ name: "", layer, model: StorageMemory.layer, seed: 1, test }),
    { goesOn: ({ failure }) => failure === null, timeout: 20_000 },
  );
  for await (const result of results) if (result.failure !== null) return result;
  return null;
};
