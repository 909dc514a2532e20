/** The whole gate: the checks, every test on Node, and those of the portable packages on Deno. */
import { check } from "./check.ts";
import { combine, finish, runVitest } from "./run_vitest.ts";

finish(
  combine(
    await Promise.all([
      check(),
      // Most of these tests wait for processes. The others compute meanwhile.
      runVitest("Node.js/24", "node"),
      runVitest("Node.js/24", "contract-postgres-redis"),
      runVitest("Deno", "portable"),
    ]),
  ),
);
