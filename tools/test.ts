/** The whole gate: the checks, every test on Node, and those of the portable packages on Deno. */
import { check } from "./check.ts";
import { combine, finish } from "./results.ts";
import { runVitest } from "./run_vitest.ts";

finish(
  combine(
    await Promise.all([
      check(),
      // Most of these tests wait for processes. The others compute meanwhile, in one worker each: a second one would
      // have to import the sources as well.
      runVitest("Node.js/24", ["node"]),
      runVitest("Node.js/24", ["contract-postgres-redis"], {}, ["--maxWorkers=1"]),
      runVitest("Deno", ["portable"]),
    ]),
  ),
);
