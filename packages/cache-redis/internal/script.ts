import { createHash } from "node:crypto";
import type { RedisCommands } from "../connections.ts";
import { refusalOf } from "./redis_failure.ts";

/** Lua that Redis runs as one step, and the hash by which Redis knows it once it has run. */
export interface Script {
  readonly lua: string;
  readonly sha: string;
}

export const makeScript = (lua: string): Script => ({
  lua,
  sha: createHash("sha1").update(lua).digest("hex"),
});

/** Runs a script. Redis knows it from its first run until it restarts. */
export const runScript = async (
  commands: Pick<RedisCommands, "eval" | "evalsha">,
  { sha, lua }: Script,
  keys: ReadonlyArray<string>,
  values: ReadonlyArray<string | number>,
): Promise<unknown> => {
  try {
    return await commands.evalsha(sha, keys.length, ...keys, ...values);
  } catch (error) {
    if (!refusalOf(error)?.startsWith("NOSCRIPT")) throw error;
    return await commands.eval(lua, keys.length, ...keys, ...values);
  }
};
