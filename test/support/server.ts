/**
 * Starts the real server for tests, either in a new process or in the process of the tests. The latter takes only a
 * fifth of the processor time.
 */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  listening,
  type RunningCommand,
  startInProcess,
  startWebInProcess,
} from "@accountlink/server/test_command_line";
import { compileCache, freePort, isProof } from "@accountlink/test-servers";
import { Effect } from "effect";
import { afterAll, beforeAll } from "vitest";
import { type DevPlatform, devPlatformOn } from "./dev_platform.ts";
import { makeClient, type Send } from "./http.ts";
import { embeddedStorage, makeStorage, type StorageKind, type TestStorage } from "./storage.ts";

const programAt = (path: string) => fileURLToPath(new URL(`../../apps/server/${path}`, import.meta.url));
const main = programAt("main.ts");
/** The program with which tests control the dev platform. `npm test` and the proof bundle it, as users start the server. */
const controlled =
  process.env["ACCOUNTLINK_TEST_PROGRAM"] ?? programAt("commands/test_controlled_process.ts");
/** The program whose dev platform does not share its processor time. */
export const apartProgram = programAt("commands/test_apart_process.ts");

export interface ServerOptions {
  /** Initial data; "demo" runs the demo of `npm start` with its limits and storage. */
  readonly fixture: object | "demo";
  /** Variables added to `standardEnvironment`. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * A data folder to keep. By default, the server uses the storage of the test project, and removes its data at the
   * end.
   */
  readonly dataFolder?: string;
  /** The kind of storage if the test project chooses none. By default, it is embedded. */
  readonly usual?: StorageKind;
  /** Whether the proof too starts the server in the process of its tests, which change what it reads. */
  readonly here?: boolean;
}

export interface RunningServer {
  readonly url: string;
  readonly dataFolder: string;
  readonly storage: TestStorage;
  /** The dev platforms of the server, unless it uses others or is the demo. */
  readonly platform: DevPlatform;
  readonly send: Send;
  /** Standard output and standard error so far. */
  readonly output: () => string;
  /** Stops the server and returns its exit code, or null if a signal ended the process. */
  readonly stop: () => Promise<number | null>;
}

export interface ServerProcess extends RunningServer {
  readonly pid: number;
  readonly kill: () => Promise<void>;
}

const standardEnvironment = {
  ACCOUNTLINK_PORT: "0",
  ACCOUNTLINK_PLATFORM: "dev",
  ACCOUNTLINK_TRUSTED_PROXIES: "127.0.0.0/8",
  ACCOUNTLINK_IP_PER_SECOND: "0",
  ACCOUNTLINK_IP_PAGES_PER_SECOND: "0",
  ACCOUNTLINK_IP_DAILY: "0",
  ACCOUNTLINK_IP_VERIFY_DAILY: "0",
  ACCOUNTLINK_IP_AUTH_FAILURES: "0",
  // On a busy machine, a shorter timeout would close connections just before their next use.
  ACCOUNTLINK_IDLE_TIMEOUT: "1 minute",
};

/**
 * Starts a process and waits until it listens.
 *
 * @param program the path of its `main.ts`; by default, this checkout's. A test that sets the port of the dev platform
 * controls it.
 */
export const startServer = async ({
  program,
  ...options
}: ServerOptions & { readonly program?: string }): Promise<ServerProcess> => {
  const place = await makePlace(options);
  const isControlled = "ACCOUNTLINK_DEV_PLATFORM_PORT" in place.env;
  // Like `main.ts`, the program of the tests keeps what it compiled.
  const { stdout, stderr, ...child } =
    isControlled && program === undefined
      ? spawnIn({ ...place, env: { ...compileCache, ...place.env } }, controlled)
      : spawnIn(place, program ?? main);
  const { end, ...server } = await clientOf(place, { stdout, stderr, ended: child.ended });
  return {
    ...server,
    pid: child.pid,
    stop: () => end(() => child.kill("SIGTERM")),
    kill: async () => {
      await end(() => child.kill("SIGKILL"));
    },
  };
};

type Start = (environment: Readonly<Record<string, string>>) => RunningCommand;

/** Starts a server in this process and waits until it listens. */
export const startServerHere = async (
  options: ServerOptions,
  start: Start = (environment) => startInProcess(["serve"], environment),
): Promise<RunningServer> => {
  const place = await makePlace(options);
  const { stop, ...running } = start(place.env);
  const { end, ...server } = await clientOf(place, running);
  return { ...server, stop: () => end(stop) };
};

export const serverInScope = (
  options: ServerOptions,
  start: (options: ServerOptions) => Promise<RunningServer> = startServerHere,
) =>
  Effect.acquireRelease(
    Effect.promise(() => start(options)),
    ({ stop }) => Effect.promise(stop),
  );

type Place = Awaited<ReturnType<typeof makePlace>>;

const makePlace = async ({ fixture, env = {}, dataFolder, usual = "embedded" }: ServerOptions) => {
  const folder = await mkdtemp(join(tmpdir(), "accountlink-test-"));
  const data = dataFolder ?? join(folder, "data");
  const isDemo = fixture === "demo";
  const storage =
    dataFolder === undefined && !isDemo ? await makeStorage(data, usual) : embeddedStorage(data);
  const fixtureFile = join(folder, "fixture.json");
  const platformPort = await freePort();
  await writeFile(fixtureFile, JSON.stringify(fixture));
  const variables: Readonly<Record<string, string>> = isDemo
    ? { ACCOUNTLINK_PORT: "0", ACCOUNTLINK_DATA_DIR: data, ...env }
    : {
        ...standardEnvironment,
        ...(env["ACCOUNTLINK_PLATFORM"] === undefined && {
          ACCOUNTLINK_DEV_PLATFORM_PORT: String(platformPort),
        }),
        ...storage.env,
        ACCOUNTLINK_FIXTURE: fixtureFile,
        ...env,
      };
  return {
    folder,
    dataFolder: data,
    storage,
    env: variables,
    platformPort,
    remove: async () => {
      await storage.remove();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const spawnIn = ({ folder, env }: Place, program: string) => {
  const child = spawn(process.execPath, [program, "serve"], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("close", resolve).once("error", reject);
  });
  const { stdout, stderr } = child;
  return { stdout, stderr, ended, pid: child.pid as number, kill: child.kill.bind(child) };
};

const clientOf = async (
  { dataFolder, storage, platformPort, remove }: Place,
  running: Parameters<typeof listening>[0],
) => {
  const { url, output } = await listening(running).catch(async (error: unknown) => {
    await remove();
    throw error;
  });
  const client = makeClient(url);
  const platform = devPlatformOn(platformPort);
  const end = async (signal: () => unknown) => {
    client.close();
    platform.close();
    signal();
    const code = await running.ended;
    await remove();
    return code;
  };
  return { url, dataFolder, storage, platform, send: client.send, output, end };
};

/**
 * The ways to start a server. By default, tests start it in their own process, and the proof starts it in a new
 * process. The project `contract-web` tests web handlers.
 */
const starts: Readonly<Record<string, (options: ServerOptions) => Promise<RunningServer>>> = {
  here: startServerHere,
  process: startServer,
  web: (options) => startServerHere(options, startWebInProcess),
};
const kind = process.env["ACCOUNTLINK_TEST_SERVER"] ?? (isProof ? "process" : "here");

/** Whether tests run against a web handler, whose `Request` has a normalized URL. */
export const isWebHandler = kind === "web";

const start = starts[kind] ?? startServerHere;

/**
 * Runs one server for all tests of a file. `options` is called only after the whole file is loaded, so every test can
 * first add its data to the fixture. Outside of the proof, the server keeps its data in memory by default, because the
 * conformance suites test the other storages.
 */
export const useServer = (
  options: () => ServerOptions,
): Pick<RunningServer, "send" | "output" | "platform"> & {
  readonly url: () => string;
  readonly storage: () => TestStorage;
} => {
  let running: RunningServer | undefined;
  const server = () => {
    if (running === undefined) throw new Error("Cannot use the server: it runs only while tests do");
    return running;
  };
  beforeAll(async () => {
    const chosen: ServerOptions = { usual: isProof ? "embedded" : "memory", ...options() };
    running = await (chosen.here ? startServerHere : start)(chosen);
  });
  afterAll(async () => {
    if (running === undefined) return;
    const code = await running.stop();
    if (code !== 0) throw new Error(`Cannot stop the server: it ended with code ${code}, expected 0`);
  });
  return {
    send: (line, request) => server().send(line, request),
    output: () => server().output(),
    platform: {
      fail: (fault) => server().platform.fail(fault),
      recover: () => server().platform.recover(),
      send: (line, request) => server().platform.send(line, request),
    },
    url: () => server().url,
    storage: () => server().storage,
  };
};
