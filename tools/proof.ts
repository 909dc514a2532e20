/** Runs the proofs: faults, load and growth. They take as long as they need. */
import { finish } from "./results.ts";
import { runVitest } from "./run_vitest.ts";

finish(await runVitest("Node.js/24", ["proof"], ["--passWithNoTests"]));
