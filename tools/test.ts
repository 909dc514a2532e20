/** The whole gate: static checks, every test on Node, and the tests of portable packages on Deno. */
import { check } from "./check.ts";
import { combine, finish, runVitest } from "./run_vitest.ts";

finish(
  combine(
    await Promise.all([
      check(),
      // Most of these tests wait for processes, so the other steps can use the processor.
      runVitest("Node.js/24", "node"),
      runVitest("Node.js/24", "contract-postgres-redis"),
      runVitest("Deno", "portable"),
    ]),
  ),
);
