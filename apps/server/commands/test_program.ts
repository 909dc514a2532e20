/** For tests: a folder in which commands and servers run, in this process or in processes of their own. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import {
  type Ended,
  listening,
  type RunningCommand,
  runInProcess,
  startInProcess,
} from "./test_command_line.ts";

const main = fileURLToPath(new URL("../main.ts", import.meta.url));

/** A temporary folder, with a data folder that a server and the command line share. */
export type Workplace = Awaited<ReturnType<typeof makeWorkplace>>;

/** Makes a workplace that is removed after the test. */
export const makeWorkplace = async (environment: Readonly<Record<string, string>> = {}) => {
  const folder = await mkdtemp(join(tmpdir(), "accountlink-cli-"));
  const dataFolder = join(folder, "data");
  const children: Array<ChildProcess> = [];
  const servers: Array<RunningCommand> = [];
  onTestFinished(async () => {
    await Promise.all([...children.map(end), ...servers.map(({ stop }) => stop())]);
    await rm(folder, { recursive: true, force: true });
  });

  const env = {
    ACCOUNTLINK_STORAGE: "embedded",
    ACCOUNTLINK_DATA_DIR: dataFolder,
    ACCOUNTLINK_PLATFORM: "dev",
    ACCOUNTLINK_PORT: "0",
    ...environment,
  };
  const start = (...args: ReadonlyArray<string>): ChildProcess => {
    const child = spawn(process.execPath, [main, ...args], { cwd: folder, env });
    children.push(child);
    return child;
  };

  /** Runs a command in this process with this standard input. */
  const runWith = (input: string, ...words: ReadonlyArray<string>): Promise<Ended> =>
    runInProcess(words, env, input);

  return {
    folder,
    dataFolder,
    environment: env,
    start,
    /** Runs the program in a process of its own, and waits until it ends. */
    runProcess: (...args: ReadonlyArray<string>) => finish(start(...args)),
    runWith,
    /** Writes a file into the folder, and returns its path. */
    file: async (name: string, content: string | Uint8Array) => {
      const path = join(folder, name);
      await writeFile(path, content);
      return path;
    },
    run: (...args: ReadonlyArray<string>) => runWith("", ...args),
    /** Runs a command with `--json`, and returns its output, which must be JSON only. */
    json: async (...args: ReadonlyArray<string>) => {
      const { stdout, stderr } = await runWith("", ...args, "--json");
      if (stderr !== "") throw new Error(`Cannot go on: standard error has "${stderr}", expected nothing`);
      return JSON.parse(stdout) as Record<string, unknown>;
    },
    /** Starts a server in this process, and returns its URL once it listens. It stops after the test. */
    serve: async (more: Readonly<Record<string, string>> = {}) => {
      // The timeout is short, since a stopping server waits for the idle connections that `fetch` keeps open.
      const server = startInProcess(["serve"], { ACCOUNTLINK_IDLE_TIMEOUT: "500 millis", ...env, ...more });
      servers.push(server);
      return (await listening(server)).url;
    },
  };
};

/** The status of a lookup with the key: 401 if the key is refused, otherwise 200 or 404. */
export const statusWith = async (url: string, key: unknown): Promise<number> => {
  const response = await fetch(`${url}/v2/chat?chatId=100001`, {
    headers: { authorization: `Bearer ${String(key)}` },
  });
  await response.arrayBuffer();
  return response.status;
};

/** Waits for a process to end, and returns its output. */
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
