import { spawn } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { resultsVariable } from "./report_results.ts";
import { type FileResults, type Results, resultsOfFiles } from "./results.ts";

/** By the start of its user agent: the command that runs a script in that runtime, and its workers with it. */
const runtimes = {
  "Node.js/24": [process.execPath],
  Deno: ["node_modules/deno/deno", "run", "--allow-all"],
  Bun: ["node_modules/bun/bin/bun.exe", "--bun"],
} as const satisfies Record<string, ReadonlyArray<string>>;

type Runtime = keyof typeof runtimes;

/** The projects of `npm test` on Node, in their order. */
export const testProjects = ["node", "contract-postgres-redis"] as const;

/**
 * The machine of a CI run may be busy: up to so many files that fail there are run again, as a whole, since a test finds
 * what it did before. What passes only then is printed at the end.
 */
const mostAgain = process.env["CI"] === "true" ? 5 : 0;

/**
 * Runs projects of `vitest.config.ts` in a runtime, with the output passed on.
 *
 * @param environment variables beyond those of this process
 */
export const runVitest = async (
  runtime: Runtime,
  projects: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>> = {},
): Promise<Results> => {
  const all = await runFiles(runtime, projects, [], environment);
  const failing = all.filter(({ failed }) => failed > 0);
  const files = failing.map(({ file }) => file);
  if (files.length === 0 || files.length > mostAgain || files.includes("")) return resultsOfFiles(all);
  const ofFailing = [...new Set(failing.map(({ project }) => project))];
  return resultsOfFiles(all, await runFiles(runtime, ofFailing, files, environment));
};

/** Runs files, or else all. A run that fails in no test, such as one that finds none, counts as one failure. */
const runFiles = async (
  runtime: Runtime,
  projects: ReadonlyArray<string>,
  files: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>>,
): Promise<ReadonlyArray<FileResults>> => {
  console.log(`\nTests on ${runtime}: ${[...projects, ...files].join(", ")}`);
  const folder = await mkdtemp(join(await parentOfFiles(environment), "accountlink-vitest-"));
  // As the folder of the system: Postgres removes its files as another user.
  await chmod(folder, 0o1777);
  const file = join(folder, "results.json");
  const reporters = ["--reporter=default", "--reporter=./tools/report_results.ts"];
  const selection = projects.map((project) => `--project=${project}`);
  try {
    const command = ["node_modules/vitest/vitest.mjs", "run", ...reporters, ...selection, ...files];
    const succeeded = await run(runtime, command, {
      ...environment,
      TMPDIR: folder,
      [resultsVariable]: file,
    });
    const results = await readResults(file);
    if (succeeded || results.some(({ failed }) => failed > 0)) return results;
    return [...results, outsideOfTests(runtime, projects)];
  } finally {
    // Servers that end with their worker may still write.
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  }
};

/** For what tests write, in bytes: several times what they do. */
const roomInMemory = 4 * 1024 ** 3;

/**
 * Where tests write: memory if there is room, since syncing a disk takes a fifth of their processor time. The proof
 * writes more, and measures disks.
 */
const parentOfFiles = async (environment: Readonly<Record<string, string>>): Promise<string> => {
  if ("ACCOUNTLINK_TEST_PROOF" in environment) return tmpdir();
  const memory = "/dev/shm";
  const room = await statfs(memory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return Math.min(room, process.availableMemory()) < roomInMemory ? tmpdir() : memory;
};

const run = (
  runtime: Runtime,
  script: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>>,
): Promise<boolean> => {
  const [program, ...args] = runtimes[runtime];
  const env = {
    ...process.env,
    ...environment,
    ACCOUNTLINK_TEST_RUNTIME: runtime,
    // Of the time in which a worker imports the sources, half is compilation.
    NODE_COMPILE_CACHE: join(import.meta.dirname, "../node_modules/.cache/vitest"),
  };
  const child = spawn(program, [...args, ...script], { stdio: "inherit", env });
  return new Promise((resolve) => {
    child.once("exit", (code) => resolve(code === 0));
    child.once("error", (error) => {
      console.error(`Cannot run the tests on ${runtime}: ${error.message}`);
      resolve(false);
    });
  });
};

/** A failure of no file. */
const outsideOfTests = (runtime: Runtime, projects: ReadonlyArray<string>): FileResults => ({
  project: projects.join(", "),
  file: "",
  passed: 0,
  failed: 1,
  skipped: 0,
  failures: [`the run of ${projects.join(", ")} on ${runtime}, outside of its tests`],
});

/** No results were written if the run could not start. */
const readResults = async (file: string): Promise<ReadonlyArray<FileResults>> =>
  JSON.parse(await readFile(file, "utf8").catch(() => "[]"));
