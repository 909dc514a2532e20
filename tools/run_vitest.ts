/** Runs the tests of a `vitest.config.ts` project in a runtime, prints their output, and counts them. */
import { type ChildProcess, spawn } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, statfs } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { groupBy } from "@accountlink/core/group_by";
import { compileCache } from "../test/servers/compile_cache.ts";

export interface Results {
  readonly passed: number;
  readonly skipped: number;
  readonly failures: ReadonlyArray<Failure>;
  /** Names of the tests that failed at first and passed when their file ran again. */
  readonly flaky: ReadonlyArray<string>;
}

export interface Failure {
  readonly name: string;
  /** The command that repeats it. */
  readonly command: string;
}

/**
 * The command that runs a script and its workers in each runtime. Each key is the beginning of the runtime's user
 * agent, which `expect_runtime.ts` checks.
 */
const runtimes = {
  "Node.js/24": [process.execPath],
  Deno: ["node_modules/deno/deno", "run", "--allow-all"],
  Bun: ["node_modules/bun/bin/bun.exe", "--bun"],
} as const satisfies Record<string, ReadonlyArray<string>>;

type Runtime = keyof typeof runtimes;

/** At most this many failed files run again; if more fail, none does. In CI, tests may fail on a busy machine. */
const mostAgain = process.env["CI"] === "true" ? 5 : 0;

/**
 * @param files the beginnings of the paths of test files. By default, all files of the project run
 */
export const runVitest = async (
  runtime: Runtime,
  project: string,
  environment: Readonly<Record<string, string>> = {},
  files: ReadonlyArray<string> = [],
): Promise<Results> => {
  const first = await runFiles(runtime, project, files, environment);
  const failing = [...first].filter(([, { failures }]) => failures.length > 0).map(([file]) => file);
  const isAgain = failing.length > 0 && failing.length <= mostAgain && !failing.includes(outsideOfFiles);
  const last = new Map([
    ...first,
    ...(isAgain ? await runFiles(runtime, project, failing, environment) : []),
  ]);
  const results = combine([...last.values()]);
  const names = new Set(results.failures.map(({ name }) => name));
  const before = combine([...first.values()]).failures;
  return { ...results, flaky: before.map(({ name }) => name).filter((name) => !names.has(name)) };
};

export const combine = (runs: ReadonlyArray<Results>): Results => ({
  passed: runs.reduce((total, { passed }) => total + passed, 0),
  skipped: runs.reduce((total, { skipped }) => total + skipped, 0),
  failures: runs.flatMap(({ failures }) => failures),
  flaky: runs.flatMap(({ flaky }) => flaky),
});

/** How many failures the last lines name, so that a terminal shows them all. */
const mostNamed = 8;

/** Prints failures, the commands that repeat them, and totals. Sets the exit code. */
export const finish = ({ passed, failures, skipped, flaky }: Results): void => {
  for (const test of flaky) console.log(`Passed only when run again: ${test}`);
  for (const { name, command } of failures.slice(0, mostNamed)) console.log(`Failed: ${name}\n  ${command}`);
  if (failures.length > mostNamed) console.log(`Failed: ${failures.length - mostNamed} more, listed above`);
  console.log(`${passed} passed, ${failures.length} failed, ${skipped} skipped`);
  process.exitCode = failures.length === 0 ? 0 : 1;
};

const outsideOfFiles = "";

/** The signal that ends this process, as soon as the running vitest processes have ended. */
let stoppedBy: NodeJS.Signals | undefined;

/** How many vitest processes run. */
let running = 0;

/**
 * Runs the tests in `files`, or in all files of the project if `files` is empty. If vitest fails although no test
 * failed, for example because it finds no file, this counts as one failure.
 */
const runFiles = async (
  runtime: Runtime,
  project: string,
  files: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<string, Results>> => {
  console.log(`\nTests on ${runtime}: ${[project, ...files].join(", ")}`);
  running++;
  const folder = await mkdtemp(join(await parentOfFiles(environment), "accountlink-vitest-"));
  // Give the folder the mode of the system's temporary folder, because Postgres runs as another user and removes its
  // files from the folder.
  await chmod(folder, 0o1777);
  const report = join(folder, "results.json");
  const options = [
    `--project=${project}`,
    "--silent=passed-only",
    "--reporter=./tools/progress_reporter.ts",
    "--reporter=json",
  ];
  const script = [
    "node_modules/vitest/vitest.mjs",
    "run",
    ...options,
    `--outputFile.json=${report}`,
    ...(files.length === 0 ? [] : ["--passWithNoTests", ...files]),
  ];
  try {
    const succeeded = await run(runtime, script, { ...environment, TMPDIR: folder });
    const { testResults } = JSON.parse(
      await readFile(report, "utf8").catch(() => '{ "testResults": [] }'),
    ) as Report;
    const results = new Map(
      testResults.map((file) => [file.name, resultsOf({ runtime, project, environment }, file)]),
    );
    const isExplained = succeeded || [...results.values()].some(({ failures }) => failures.length > 0);
    const failures = [
      {
        name: `the run of ${project} on ${runtime}, outside of its tests`,
        command: commandFor({ runtime, project, environment }),
      },
    ];
    return isExplained
      ? results
      : results.set(outsideOfFiles, { passed: 0, skipped: 0, failures, flaky: [] });
  } finally {
    // Retry, because servers that end together with their worker may still be writing into the folder.
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    running--;
    if (stoppedBy !== undefined) await exit(stoppedBy);
  }
};

/** Exits once the last vitest process has ended. */
const exit = (signal: NodeJS.Signals): Promise<never> => {
  if (running === 0) process.exit(128 + constants.signals[signal]);
  return new Promise(() => {});
};

/** The output of vitest's `json` reporter. */
interface Report {
  readonly testResults: ReadonlyArray<{
    readonly name: string;
    readonly status: string;
    readonly assertionResults: ReadonlyArray<{ readonly status: string; readonly fullName: string }>;
  }>;
}

interface Run {
  readonly runtime: Runtime;
  readonly project: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Returns the shell command that runs a project, a file, or the tests of a file with this name. */
const commandFor = ({ runtime, project, environment }: Run, file = "", test = ""): string => {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const program =
    runtime === "Node.js/24" ? ["tools/node"] : [`ACCOUNTLINK_TEST_RUNTIME=${runtime}`, ...runtimes[runtime]];
  // The name is a regular expression, in which these characters have a meaning.
  const pattern = test.replaceAll(/[^\p{L}\p{N} ,:;/_-]/gu, ".");
  return [
    ...variables,
    ...program,
    `node_modules/vitest/vitest.mjs run --project ${project}`,
    ...(file === "" ? [] : [file]),
    ...(test === "" ? [] : [`-t "${pattern}"`]),
  ].join(" ");
};

const resultsOf = (run: Run, file: Report["testResults"][number]): Results => {
  const tests = groupBy(file.assertionResults, ({ status }) => status);
  const passed = tests.get("passed")?.length ?? 0;
  const failed = tests.get("failed") ?? [];
  // If a file cannot be loaded, or a hook fails, tests do not run, so none of them has failed. Count this as one
  // failure.
  const broken = file.status === "failed" && failed.length === 0 ? [""] : [];
  const path = relative(".", file.name);
  const failures = [...broken, ...failed.map(({ fullName }) => fullName)].map((name) => ({
    name: `${run.project} ${path}: ${name}`,
    command: commandFor(run, path, name),
  }));
  const skipped = file.assertionResults.length - passed - failed.length;
  return { passed, skipped, failures, flaky: [] };
};

/** How much memory must be free to keep test files in memory, in bytes. It is several times what the tests write. */
const roomInMemory = 4 * 1024 ** 3;

/**
 * Returns the folder for the files of tests. The folder is in memory if enough memory is free, because syncing files to
 * a disk would take a fifth of the tests' processor time. The proof uses a disk, because it writes more data, and
 * because its measurements include the disk.
 */
const parentOfFiles = async (environment: Readonly<Record<string, string>>): Promise<string> => {
  if ("ACCOUNTLINK_TEST_PROOF" in environment) return tmpdir();
  const memory = "/dev/shm";
  const { bavail, bsize } = await statfs(memory).catch(() => ({ bavail: 0, bsize: 0 }));
  return Math.min(bavail * bsize, process.availableMemory()) < roomInMemory ? tmpdir() : memory;
};

const run = async (
  runtime: Runtime,
  script: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>>,
): Promise<boolean> => {
  const [program, ...args] = runtimes[runtime];
  const env = {
    ...process.env,
    ...environment,
    ACCOUNTLINK_TEST_RUNTIME: runtime,
    ...compileCache,
  };
  // The workers of vitest and the servers that tests start are in the process group of vitest, and end with it.
  const child = spawn(program, [...args, ...script], {
    stdio: ["ignore", "inherit", "inherit"],
    env,
    detached: true,
  });
  const stop = (signal: NodeJS.Signals) => {
    stoppedBy = signal;
    signalGroup(child, "SIGTERM");
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, stop);
  const succeeded = await new Promise<boolean>((resolve) => {
    child.once("exit", (code) => resolve(code === 0));
    child.once("error", (error) => {
      console.error(`Cannot run the tests on ${runtime}: ${error.message}`);
      resolve(false);
    });
  });
  for (const signal of signals) process.off(signal, stop);
  if (stoppedBy !== undefined) await endOfGroup(child);
  return succeeded;
};

/** Returns whether the process group of a child has a process. */
const signalGroup = ({ pid }: ChildProcess, signal: NodeJS.Signals | 0): boolean => {
  try {
    return pid !== undefined && process.kill(-pid, signal);
  } catch {
    return false;
  }
};

/** Servers take up to 10 seconds for a shutdown. After this time, in milliseconds, they are killed. */
const longestShutdown = 15_000;

const endOfGroup = async (child: ChildProcess): Promise<void> => {
  const deadline = performance.now() + longestShutdown;
  while (signalGroup(child, performance.now() < deadline ? 0 : "SIGKILL")) await sleep(100);
};
