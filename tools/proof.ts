/**
 * Runs the proofs: faults, load and growth, and the contract against servers that are processes of their own and against
 * web handlers. They take as long as they need.
 */
import { combine, finish } from "./results.ts";
import { runVitest } from "./run_vitest.ts";

const processes = { ACCOUNTLINK_TEST_SERVER: "process" };
const webHandlers = { ACCOUNTLINK_TEST_SERVER: "web" };
const contracts = ["contract", "contract-memory", "contract-postgres-redis"];

finish(
  combine([
    await runVitest("Node.js/24", contracts, processes),
    await runVitest("Node.js/24", ["contract"], webHandlers),
    await runVitest("Node.js/24", ["proof"]),
  ]),
);
