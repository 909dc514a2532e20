/**
 * Runs the proofs: every test with more rounds and larger data, on servers in separate processes. Also runs the
 * contract tests on memory storage and on web handlers, the tests of the portable packages on Bun, and the long-running
 * tests in `_proof.ts` files.
 */
import { combine, finish, type Results, runVitest } from "./run_vitest.ts";

const environment = { ACCOUNTLINK_TEST_PROOF: "1" };
const results: Array<Results> = [await runVitest("Bun", "portable", environment)];
for (const project of ["node", "contract-postgres-redis", "contract-memory", "contract-web", "proof"])
  results.push(await runVitest("Node.js/24", project, environment));
finish(combine(results));
