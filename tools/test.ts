/** Runs everything that must pass: static checks, every test on Node, and the tests of portable packages on Deno. */
import { check } from "./check.ts";
import { combine, finish, runVitest } from "./run_vitest.ts";

finish(
  combine(
    await Promise.all([
      check(),
      // All steps run at the same time: the tests of `node` mostly wait for other processes, and leave processor time
      // to the other steps.
      runVitest("Node.js/24", "node"),
      runVitest("Node.js/24", "contract-postgres-redis"),
      runVitest("Deno", "portable"),
    ]),
  ),
);
