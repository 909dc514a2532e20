/** Runs everything that must pass: static checks, every test on Node, and the tests of portable packages on Deno. */
import { check } from "./check.ts";
import { combine, finish, runVitest } from "./run_vitest.ts";

finish(
  combine(
    await Promise.all([
      check(),
      // Most of these tests wait for other processes, so there is processor time for the steps that run at the same
      // time.
      runVitest("Node.js/24", "node"),
      runVitest("Node.js/24", "contract-postgres-redis"),
      runVitest("Deno", "portable"),
    ]),
  ),
);
