import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { useFolder } from "../support/folder.ts";

const run = promisify(execFile);

const root = fileURLToPath(new URL("../..", import.meta.url));

const parent = useFolder();

/** The path of a clone of the last commit, without changes of the working tree. */
export const clone = join(parent, "accountlink");

export const makeClone = () => run("git", ["clone", "--quiet", root, clone]);

/** Makes a block copy the installed clone instead of cloning, since another installation would take seconds. */
export const copyClone = (block: string): string =>
  block.replace("git clone -q https://github.com/accountlink/accountlink", `cp -a ${clone}`);

/** Returns the disk usage of an installed clone, beside git's own. */
export const installedMegabytes = async (): Promise<number> => {
  const { stdout } = await run("du", ["-sm", "--exclude=.git", clone]);
  return Number.parseInt(stdout, 10);
};
