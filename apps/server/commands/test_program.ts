/** For tests: a folder in which commands and servers run, in this process or in processes of their own. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { type Ended, listening, runInProcess, startInProcess } from "./test_command_line.ts";

const main = fileURLToPath(new URL("../main.ts", import.meta.url));

/** A temporary folder, with a data folder that a server and the command line share. */
export type Workplace = Awaited<ReturnType<typeof makeWorkplace>>;

/** Makes a workplace that is removed after the test. */
export const makeWorkplace = async (environment: Readonly<Record<string, string>> = {}) => {
  const folder = await mkdtemp(join(tmpdir(), "accountlink-cli-"));
  const dataFolder = join(folder, "data");
  const children: Array<ChildProcess> = [];
  onTestFinished(async () => {
    await Promise.all(children.map(end));
    await rm(folder, { recursive: true, force: true });
  });

  const env = { ...embeddedIn(dataFolder), ACCOUNTLINK_PLATFORM: "dev", ...environment };
  const start = (...args: ReadonlyArray<string>): ChildProcess => {
    const child = spawn(process.execPath, [main, ...args], { cwd: folder, env });
    children.push(child);
    return child;
  };

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
    serve: async (more: Readonly<Record<string, string>> = {}) =>
      (await startServer({ ...env, ...more })).url,
  };
};

/** Starts a server in this process, which stops after the test, and waits until it listens. */
export const startServer = async (
  environment: Readonly<Record<string, string>>,
  ...flags: ReadonlyArray<string>
) => {
  // The timeout is short, since a stopping server waits for the idle connections that `fetch` keeps open.
  const variables = { ACCOUNTLINK_IDLE_TIMEOUT: "500 millis", ...environment };
  const server = startInProcess(["serve", ...flags], variables);
  onTestFinished(async () => void (await server.stop()));
  return { ...(await listening(server)), stop: server.stop };
};

/** Sends a request with a key. A route is a method and a path, as in `GET /v2/chat`. */
export const ask = (url: string, key: unknown, route: string, body?: unknown): Promise<Response> => {
  const [method = "", path = ""] = route.split(" ");
  return fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${String(key)}`, "content-type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
};

/** The status of a lookup with the key: 401 if the key is refused, otherwise 200 or 404. */
export const statusWith = async (url: string, key: unknown): Promise<number> => {
  const response = await ask(url, key, "GET /v2/chat?chatId=100001");
  await response.arrayBuffer();
  return response.status;
};

export const secretIn = (dataFolder: string): string =>
  readFileSync(join(dataFolder, "secret"), "utf8").trim();

/** The variables of a server without platforms on a free port, whose data is in a folder. */
export const embeddedIn = (folder: string) => ({
  ACCOUNTLINK_STORAGE: "embedded",
  ACCOUNTLINK_DATA_DIR: folder,
  ACCOUNTLINK_PLATFORM: "none",
  ACCOUNTLINK_PORT: "0",
});

export const inDatabase = (file: string, statements: string): void => {
  const database = new DatabaseSync(file);
  database.exec(statements);
  database.close();
};

export const rowsIn = (file: string, query: string): ReadonlyArray<Record<string, unknown>> => {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database.prepare(query).all();
  } finally {
    database.close();
  }
};

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
