import { spawn } from "node:child_process";
import { compileCache } from "./compile_cache.ts";
import type { SystemUser } from "./system_user.ts";

/**
 * Runs the text of a module in a process of its own, whose output can be read.
 *
 * @param folder where its imports are looked for
 * @param user who runs the process; by default the user of this one
 */
export const spawnScript = (folder: string, script: string, args: ReadonlyArray<string>, user?: SystemUser) =>
  spawn(process.execPath, ["--input-type=module", "--eval", script, ...args], {
    cwd: folder,
    env: { ...process.env, ...compileCache },
    ...user,
    stdio: ["ignore", "pipe", "inherit"],
  });
