import { createHash } from "node:crypto";
import type { RedisCommands } from "./connection/connections.ts";
import { errorReplyOf } from "./connection/failure.ts";

/** A Lua script, which Redis runs atomically, and its SHA-1 digest for EVALSHA. */
export interface Script {
  readonly lua: string;
  readonly sha: string;
}

export const makeScript = (lua: string): Script => ({
  lua,
  sha: createHash("sha1").update(lua).digest("hex"),
});

/** Runs a script by its digest. If Redis does not know the digest, sends the Lua code instead. */
export const runScript = async (
  commands: Pick<RedisCommands, "eval" | "evalsha">,
  { sha, lua }: Script,
  keys: ReadonlyArray<string>,
  values: ReadonlyArray<string | number>,
): Promise<unknown> => {
  try {
    return await commands.evalsha(sha, keys.length, ...keys, ...values);
  } catch (error) {
    if (!errorReplyOf(error)?.startsWith("NOSCRIPT")) throw error;
    return commands.eval(lua, keys.length, ...keys, ...values);
  }
};
