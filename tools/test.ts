/** Runs every test on Node, and the tests of portable packages on Deno. `check.ts` compiles and lints. */
import { enableCompileCache, flushCompileCache } from "node:module";
import { compileCache } from "../test/servers/compile_cache.ts";
import { combine, finish, runVitest } from "./run_vitest.ts";

/** Compiles the sources once, which every worker and every program of a test would otherwise do. */
const compileSources = async (): Promise<void> => {
  enableCompileCache(compileCache.NODE_COMPILE_CACHE);
  await import("../apps/server/commands/test_command_line.ts");
  flushCompileCache();
};

const runOnNode = async () => {
  await compileSources();
  return runVitest("Node.js/24", "node");
};

// Both run at the same time.
finish(combine(await Promise.all([runOnNode(), runVitest("Deno", "portable")])));
