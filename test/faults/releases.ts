/** The sources of earlier releases, which tests run as processes of their own. */
import { execFile } from "node:child_process";
import { cp, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));

export const git = async (...words: ReadonlyArray<string>): Promise<string> =>
  (await run("git", words, { cwd: root })).stdout.trim();

/** The name of the newest migration, such as `0049_plan_statistics`. */
export const newestStep = async (): Promise<string> => {
  const sources = ["packages/sql/migrations.ts", "packages/sql/migrations/schema_changes.ts"];
  const names = await git("grep", "-hoE", '"[0-9]{4}_[a-z_]+"', "--", ...sources);
  return names.replaceAll('"', "").split("\n").toSorted().at(-1) ?? "";
};

/** Returns the last commit without the newest migration. */
export const releaseBefore = async (): Promise<string> => {
  const step = await newestStep();
  const [first] = (await git("log", "--reverse", "--format=%H", `-S"${step}"`, "--", "packages/sql")).split(
    "\n",
  );
  return `${first}^`;
};

/** Writes the sources of a commit into the folder, with the packages of this checkout. Returns its `main.ts`. */
export const checkOut = async (commit: string, folder: string): Promise<string> => {
  await run(
    "sh",
    ["-ec", 'git archive "$0" packages apps package.json pnpm-lock.yaml | tar -x -C "$1"', commit, folder],
    {
      cwd: root,
    },
  );
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  const { stdout } = await run("find", ["packages", "apps", "-name", "node_modules", "-prune"], {
    cwd: root,
  });
  for (const path of stdout.trim().split("\n")) {
    await cp(join(root, path), join(folder, path), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (file) => !file.endsWith(".cache"),
    });
  }
  return join(folder, "apps/server/main.ts");
};
