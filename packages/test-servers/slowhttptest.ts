/** slowhttptest, which attacks servers with slow clients. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { findServer } from "./debian_program.ts";
import { skipReason } from "./skip_reason.ts";

const program = findServer({
  names: ["slowhttptest"],
  path: "usr/bin/slowhttptest",
  packages: ["slowhttptest"],
});

/** Why slowhttptest is unavailable, or null; for the title of a skip. Throws with CI=true. */
export const whyNoSlowhttptest = async (): Promise<string | null> =>
  (await program) === null
    ? skipReason("slowhttptest", "there is none on PATH, and no Debian package of it to unpack")
    : null;

/** Runs an attack. */
export const runSlowhttptest = async (args: ReadonlyArray<string>): Promise<void> => {
  const found = await program;
  if (found === null) {
    throw new Error("Cannot attack: no program was found, expected whyNoSlowhttptest to say so");
  }
  await promisify(execFile)(found.file, [...args], { env: { ...process.env, ...found.env } });
};
