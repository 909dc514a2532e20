/** The whole gate: the checks, every test on Node, and those of the portable packages on Deno and Bun. */
import { check } from "./check.ts";
import { combine, finish } from "./results.ts";
import { runVitest, testProjects } from "./run_vitest.ts";

const checked = await check();
// Tests on Node wait more than the others, which compute meanwhile.
const [onNode, onOthers] = await Promise.all([
  runVitest("Node.js/24", testProjects),
  runVitest("Deno", ["portable"]).then(async (onDeno) => [onDeno, await runVitest("Bun", ["portable"])]),
]);
finish(combine([checked, onNode, ...onOthers]));
