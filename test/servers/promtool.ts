import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { serverFinder } from "./debian_program.ts";
import { skipReason } from "./skip_reason.ts";

const program = serverFinder({ names: ["promtool"], path: "usr/bin/promtool", packages: ["prometheus"] });

const run = promisify(execFile);

/**
 * Returns null if promtool is available, else the reason, for titles of skipped tests. With CI=true, throws instead.
 */
export const whyNoPromtool = async (): Promise<string | null> =>
  (await program()) === null
    ? skipReason("promtool", "there is no promtool on PATH, and no Debian package of it to unpack")
    : null;

export const runPromtool = async (...args: ReadonlyArray<string>): Promise<string> => {
  const found = await program();
  if (found === null)
    throw new Error("Cannot run promtool: no program was found, expected the test to be skipped");
  const { stdout } = await run(found.file, args, { env: { ...process.env, ...found.env } });
  return stdout;
};
