/**
 * The real server, as a process of its own.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll } from "vitest";
import { makeClient, type Send } from "./http.ts";
import { embeddedStorage, makeStorage, type TestStorage } from "./storage.ts";

const main = fileURLToPath(new URL("../../apps/server/main.ts", import.meta.url));

/** How a server is started. */
export interface ServerOptions {
  /** What it is filled with. */
  readonly fixture: object;
  /** Its environment, beyond a free port, this machine as a trusted proxy, and no limits of client addresses. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where its data lives and stays. Without one it gets the storage of the project, which is gone after it. */
  readonly dataFolder?: string;
  /** The path of its `main.ts`; the one of this checkout when left out. */
  readonly program?: string;
}

/** A server that runs. */
export interface RunningServer {
  readonly url: string;
  readonly pid: number;
  readonly dataFolder: string;
  readonly storage: TestStorage;
  readonly send: Send;
  /** Everything that it printed so far, on standard output and standard error. */
  readonly output: () => string;
  /** Tells it to end and gives its exit code; null when it did not end by itself. */
  readonly stop: () => Promise<number | null>;
  /** Ends it as a power cut would. */
  readonly kill: () => Promise<void>;
}

const standardEnvironment = {
  ACCOUNTLINK_PORT: "0",
  ACCOUNTLINK_PLATFORM: "dev",
  ACCOUNTLINK_TRUSTED_PROXIES: "127.0.0.0/8",
  ACCOUNTLINK_IP_PER_SECOND: "0",
  ACCOUNTLINK_IP_DAILY: "0",
  ACCOUNTLINK_IP_VERIFY_DAILY: "0",
  ACCOUNTLINK_IP_AUTH_FAILURES: "0",
};

/** Starts a server and waits until it says that it listens. */
export const startServer = async ({
  fixture,
  env = {},
  dataFolder,
  program = main,
}: ServerOptions): Promise<RunningServer> => {
  const folder = await mkdtemp(join(tmpdir(), "accountlink-test-"));
  const data = dataFolder ?? join(folder, "data");
  const storage = dataFolder === undefined ? await makeStorage(data) : embeddedStorage(data);
  const fixtureFile = join(folder, "fixture.json");
  const remove = async () => {
    await storage.remove();
    await rm(folder, { recursive: true, force: true });
  };
  await writeFile(fixtureFile, JSON.stringify(fixture));
  const child = spawn(process.execPath, [program, "serve"], {
    cwd: folder,
    env: {
      ...standardEnvironment,
      ...storage.env,
      ACCOUNTLINK_FIXTURE: fixtureFile,
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  const output = collectOutput(child);
  const url = await readyUrl(child, output).catch(async (error: unknown) => {
    await remove();
    throw error;
  });
  const client = makeClient(url);

  const end = async (signal: "SIGTERM" | "SIGKILL") => {
    client.close();
    child.kill(signal);
    await ended;
    await remove();
  };

  return {
    url,
    pid: child.pid as number,
    dataFolder: data,
    storage,
    send: client.send,
    output,
    stop: async () => {
      await end("SIGTERM");
      return child.exitCode;
    },
    kill: () => end("SIGKILL"),
  };
};

const collectOutput = ({ stdout, stderr }: ChildProcess): (() => string) => {
  let printed = "";
  for (const stream of [stdout, stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      printed += chunk;
    });
  }
  return () => printed;
};

const readyUrl = (child: ChildProcess, output: () => string): Promise<string> =>
  new Promise((resolve, reject) => {
    child.stdout?.on("data", () => {
      const url = /^listening on (\S+)$/m.exec(output())?.[1];
      if (url !== undefined) resolve(url);
    });
    child.once("error", reject);
    child.once("close", (code) =>
      reject(new Error(`Cannot start the server: it ended with code ${code} and printed\n${output()}`)),
    );
  });

/**
 * Runs one server for all tests of a file. The options are asked for once the file is read whole, so that every test
 * can add to the fixture what it needs.
 */
export const useServer = (
  options: () => ServerOptions,
): Pick<RunningServer, "send" | "output"> & {
  readonly url: () => string;
  readonly storage: () => TestStorage;
} => {
  let running: RunningServer | undefined;
  const server = () => {
    if (running === undefined) throw new Error("Cannot use the server: it runs only while tests do");
    return running;
  };
  beforeAll(async () => {
    running = await startServer(options());
  });
  afterAll(async () => {
    if (running === undefined) return;
    const code = await running.stop();
    if (code !== 0) throw new Error(`Cannot pass: the server ended with code ${code}, expected 0`);
  });
  return {
    send: (line, request) => server().send(line, request),
    output: () => server().output(),
    url: () => server().url,
    storage: () => server().storage,
  };
};
