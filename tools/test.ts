/** The whole gate: the checks, every test on Node, and those of the portable packages on Deno and Bun. */
import { check } from "./check.ts";
import { combine, finish } from "./results.ts";
import { runVitest, testProjects } from "./run_vitest.ts";

finish(
  combine([
    await check(),
    await runVitest("Node.js/24", testProjects),
    ...(await Promise.all([runVitest("Deno", ["portable"]), runVitest("Bun", ["portable"])])),
  ]),
);
