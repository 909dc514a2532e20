/** Runs every test on Node. `check.ts` compiles and lints, and `proof.ts` runs portable packages on Deno and Bun. */
import { enableCompileCache, flushCompileCache } from "node:module";
import { join } from "node:path";
import { compileCache } from "../test/servers/compile_cache.ts";
import { bundle } from "./make_bundle.ts";
import { finish, runVitest } from "./run_vitest.ts";

/** Compiles the sources once, which every worker and every program of a test would otherwise do. */
const compileSources = async (): Promise<void> => {
  enableCompileCache(compileCache.NODE_COMPILE_CACHE);
  await import("../apps/server/commands/test_command_line.ts");
  flushCompileCache();
};

/** Bundles the program that tests start as a process, a dozen times. */
const bundleServer = async (): Promise<void> => {
  const folder = join(import.meta.dirname, "../node_modules/.cache/server_of_tests");
  const program = "apps/server/commands/test_controlled_process.ts";
  process.env["ACCOUNTLINK_TEST_PROGRAM"] = await bundle(program, folder, true);
};

await Promise.all([compileSources(), bundleServer()]);
finish(await runVitest("Node.js/24", "node"));
