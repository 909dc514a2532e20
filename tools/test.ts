/** Runs every test on Node. `check.ts` compiles and lints, and `proof.ts` runs portable packages on Deno and Bun. */
import { enableCompileCache, flushCompileCache } from "node:module";
import { compileCache } from "../test/servers/compile_cache.ts";
import { bundleServerOfTests } from "./make_bundle.ts";
import { finish, runVitest } from "./run_vitest.ts";

/** Compiles the sources once, which every worker and every program of a test would otherwise do. */
const compileSources = async (): Promise<void> => {
  enableCompileCache(compileCache.NODE_COMPILE_CACHE);
  await import("../apps/server/commands/test_command_line.ts");
  flushCompileCache();
};

const [, program] = await Promise.all([compileSources(), bundleServerOfTests()]);
finish(await runVitest("Node.js/24", "node", { ACCOUNTLINK_TEST_PROGRAM: program }));
