/** The whole gate: the checks, every test on Node, and those of the portable packages on Deno and Bun. */
import { check } from "./check.ts";
import { finish, sum } from "./counts.ts";
import { runVitest } from "./run_vitest.ts";

finish(
  sum([
    await check(),
    await runVitest("Node.js/24", ["unit", "system", "contract-memory", "contract-postgres-redis", "faults"]),
    ...(await Promise.all([runVitest("Deno", ["portable"]), runVitest("Bun", ["portable"])])),
  ]),
);
