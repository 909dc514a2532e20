/**
 * Runs the proofs: every test with more rounds and larger data, on servers in separate processes. Also runs the
 * contract tests on memory storage and on web handlers, the tests of the portable packages on Bun, and the long-running
 * tests in `_proof.ts` files.
 */
import { combine, finish, type Results, runVitest } from "./run_vitest.ts";

if (process.argv.length > 2) {
  console.log("Usage: npm run proof\nRuns every test with more rounds, for hours. It takes no options.");
  process.exit(process.argv.includes("--help") ? 0 : 1);
}

const environment = { ACCOUNTLINK_TEST_PROOF: "1" };
const results: Array<Results> = [await runVitest("Bun", "portable", environment)];
for (const project of [
  "node",
  "contract-postgres-redis",
  "contract-redis",
  "contract-memory",
  "contract-web",
  "proof",
])
  results.push(await runVitest("Node.js/24", project, environment));
finish(combine(results));
