/** The whole gate: the checks, every test on Node, and those of the portable packages on Deno. */
import { check } from "./check.ts";
import { combine, finish } from "./results.ts";
import { runVitest, testProjects } from "./run_vitest.ts";

// Tests on Node wait more than the others, which compute meanwhile.
finish(
  combine(
    await Promise.all([check(), runVitest("Node.js/24", testProjects), runVitest("Deno", ["portable"])]),
  ),
);
