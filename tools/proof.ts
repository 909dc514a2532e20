/**
 * Runs the proofs: every test with more rounds and larger data, on servers that are processes of
 * their own; the contract on the storage in memory and on web handlers; the portable packages on
 * Bun; and long rounds of faults, load and growth. They take as long as they need.
 */
import { combine, finish } from "./results.ts";
import { runVitest, testProjects } from "./run_vitest.ts";

const environment = { ACCOUNTLINK_TEST_PROOF: "1" };
const onBun = await runVitest("Bun", ["portable"], environment);
const projects = [...testProjects, "contract-memory", "contract-web", "proof"];
finish(combine([onBun, await runVitest("Node.js/24", projects, environment)]));
