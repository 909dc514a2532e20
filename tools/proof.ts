/**
 * Runs the proofs: every test with more rounds and larger data, on servers that are processes of
 * their own; the contract on web handlers; and long rounds of faults, load and growth. They take as
 * long as they need.
 */
import { finish } from "./results.ts";
import { runVitest, testProjects } from "./run_vitest.ts";

finish(
  await runVitest("Node.js/24", [...testProjects, "contract-web", "proof"], { ACCOUNTLINK_TEST_PROOF: "1" }),
);
