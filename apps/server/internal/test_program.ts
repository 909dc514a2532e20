/**
 * For tests: the program itself, as processes in a folder of their own.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { onTestFinished, vi } from "vitest";

// A test runs several processes, and others may be using the machine.
vi.setConfig({ testTimeout: 120_000 });

const main = fileURLToPath(new URL("../main.ts", import.meta.url));

/** How a run of the program ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder to work in, with a data folder that a server and the command line share. */
export interface Workplace {
  readonly folder: string;
  readonly dataFolder: string;
  /** Writes a file into the folder and gives its path. */
  readonly file: (name: string, content: string) => Promise<string>;
  /** Starts the program. */
  readonly start: (...args: ReadonlyArray<string>) => ChildProcess;
  /** Runs the program to its end. */
  readonly run: (...args: ReadonlyArray<string>) => Promise<Ended>;
  /** The same with a standard input. */
  readonly runWith: (input: string, ...args: ReadonlyArray<string>) => Promise<Ended>;
  /** Runs the program with `--json` and gives what it printed, which must be JSON and nothing else. */
  readonly json: (...args: ReadonlyArray<string>) => Promise<Record<string, unknown>>;
  /** Starts a server and gives its address once it listens. It ends with the test. */
  readonly serve: () => Promise<string>;
}

/** Makes a workplace that is gone after the test. */
export const makeWorkplace = async (
  environment: Readonly<Record<string, string>> = {},
): Promise<Workplace> => {
  const folder = await mkdtemp(join(tmpdir(), "accountlink-cli-"));
  const dataFolder = join(folder, "data");
  const children: Array<ChildProcess> = [];
  onTestFinished(async () => {
    await Promise.all(children.map(end));
    await rm(folder, { recursive: true, force: true });
  });

  const start = (...args: ReadonlyArray<string>): ChildProcess => {
    const child = spawn(process.execPath, [main, ...args], {
      cwd: folder,
      env: {
        ACCOUNTLINK_STORAGE: "embedded",
        ACCOUNTLINK_DATA_DIR: dataFolder,
        ACCOUNTLINK_PLATFORM: "dev",
        ACCOUNTLINK_PORT: "0",
        ...environment,
      },
    });
    children.push(child);
    return child;
  };

  const runWith = async (input: string, ...args: ReadonlyArray<string>): Promise<Ended> => {
    const child = start(...args);
    child.stdin?.end(input);
    return finish(child);
  };

  return {
    folder,
    dataFolder,
    start,
    runWith,
    file: async (name, content) => {
      const path = join(folder, name);
      await writeFile(path, content);
      return path;
    },
    run: (...args) => runWith("", ...args),
    json: async (...args) => {
      const { stdout, stderr } = await runWith("", ...args, "--json");
      if (stderr !== "") throw new Error(`Cannot go on: standard error has "${stderr}", expected nothing`);
      return JSON.parse(stdout) as Record<string, unknown>;
    },
    serve: () => listening(start("serve")),
  };
};

/** Waits for the end of a process and gives what it printed. */
export const finish = async (child: ChildProcess): Promise<Ended> => {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new TypeError("Cannot read: the process has no pipes");
  const [out, error] = await Promise.all([text(stdout), text(stderr), ended(child)]);
  return { code: child.exitCode, stdout: out, stderr: error };
};

const ended = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
};

const end = async (child: ChildProcess): Promise<void> => {
  child.kill("SIGTERM");
  await ended(child);
};

const listening = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    let printed = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (chunk: string) => {
        printed += chunk;
        const url = /^listening on (\S+)$/m.exec(printed)?.[1];
        if (url !== undefined) resolve(url);
      });
    }
    child.once("exit", (code) =>
      reject(new Error(`Cannot start the server: it ended with ${code}\n${printed}`)),
    );
  });
