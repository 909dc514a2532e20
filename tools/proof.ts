/** The long gate: faults, load and growth, for as long as it takes. */
import { finish } from "./counts.ts";
import { runVitest } from "./run_vitest.ts";

finish(await runVitest("Node.js/24", ["proof"], ["--passWithNoTests"]));
