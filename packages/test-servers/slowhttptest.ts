/** slowhttptest, which attacks servers with clients that are slow. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { findServer } from "./internal/debian_program.ts";
import { skipReason } from "./internal/skip_reason.ts";

const program = findServer({
  names: ["slowhttptest"],
  path: "usr/bin/slowhttptest",
  packages: ["slowhttptest"],
});

/**
 * Why there is no slowhttptest here, or null when there is: for the title of a skip.
 *
 * @throws Error in place of a reason when CI=true, where nothing is skipped
 */
export const whyNoSlowhttptest = async (): Promise<string | null> =>
  (await program) === null
    ? skipReason("slowhttptest", "there is none on PATH, and no Debian package of it to unpack")
    : null;

/** Runs an attack to its end. */
export const runSlowhttptest = async (args: ReadonlyArray<string>): Promise<void> => {
  const found = await program;
  if (found === null) {
    throw new Error("Cannot attack: no program was found, expected whyNoSlowhttptest to say so");
  }
  await promisify(execFile)(found.file, [...args], { env: { ...process.env, ...found.env } });
};
