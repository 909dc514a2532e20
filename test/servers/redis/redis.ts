import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, Schedule, type Scope } from "effect";
import { type ServerProgram, serverFinder } from "../debian_program.ts";
import { freePort } from "../free_port.ts";
import { skipReason } from "../skip_reason.ts";
import { failStart, SupervisedProcess } from "../supervised_process.ts";
import { askRedis } from "./ask_redis.ts";

export interface RedisServer {
  readonly port: number;
  /** `redis://127.0.0.1:<port>`, or `rediss://` with a certificate. */
  readonly url: string;
  /** The raw reply to a command. */
  readonly ask: (...words: ReadonlyArray<string>) => Effect.Effect<string>;
  /** Pauses the server and keeps its connections open, like a frozen machine. */
  readonly freeze: Effect.Effect<void>;
  readonly thaw: Effect.Effect<void>;
  /**
   * Kills the server with SIGKILL. The server loses all data that it has not saved. By default, it saves no data.
   */
  readonly kill: Effect.Effect<void>;
  readonly forget: Effect.Effect<void>;
  /** Starts the killed server again, with the same port and the saved data. */
  readonly restart: Effect.Effect<void>;
}

export interface RedisServerOptions {
  /** Lines of the configuration file. */
  readonly config?: ReadonlyArray<string>;
  /** Files of a certificate for 127.0.0.1 and its key. With them, the server accepts only connections with TLS. */
  readonly tls?: { readonly certificate: string; readonly key: string };
  readonly sentinel?: boolean;
}

const packages = ["redis-server", "redis-tools", "liblzf1", "libjemalloc2", "libatomic1"];
const program = serverFinder({
  names: ["redis-server", "valkey-server"],
  path: "usr/bin/redis-server",
  packages,
});
const givenUrl = process.env["ACCOUNTLINK_TEST_REDIS_URL"] ?? "";

/** Returns null if Redis is available, else the reason, for titles of skipped tests. With CI=true, throws instead. */
export const whyNoRedis = async (): Promise<string | null> => {
  if ((await program()) !== null) return null;
  return skipReason(
    "Redis",
    "there is no redis-server or valkey-server on PATH, and no Debian package of it to unpack",
  );
};

/** Finds `redis-cli` or `valkey-cli` on this machine, or else unpacks it from the Debian packages of the server. */
export const findRedisClient = async (): Promise<ServerProgram | null> => {
  // Wait until the Redis server is found, because the search may be unpacking the same packages for it.
  await program();
  return serverFinder({ names: ["redis-cli", "valkey-cli"], path: "usr/bin/redis-cli", packages })();
};

/** Returns null if `redisUrl` below can give tests a Redis, else the reason. With CI=true, throws instead. */
export const whyNoRedisUrl = (): Promise<string | null> =>
  givenUrl === "" ? whyNoRedis() : Promise.resolve(null);

/**
 * The URL of a Redis that tests share: ACCOUNTLINK_TEST_REDIS_URL, or else a Redis that this process starts. Each test
 * uses its own prefix for keys.
 */
export const redisUrl: Effect.Effect<string, never, Scope.Scope> = Effect.suspend(() =>
  givenUrl === "" ? Effect.map(startRedis(), (server) => server.url) : Effect.succeed(givenUrl),
);

/** Starts a Redis on a free port, in a temporary folder. It is stopped when the scope closes or this process ends. */
export const startRedis = Effect.fnUntraced(function* (options: RedisServerOptions = {}) {
  const files = yield* Effect.promise(() => prepare(options));
  const listening = { port: files.port, tls: options.tls !== undefined };
  let running: SupervisedProcess | undefined;
  yield* Effect.addFinalizer(() => Effect.promise(async () => running?.remove()));

  const restart = Effect.gen(function* () {
    const started = yield* Effect.promise(() => SupervisedProcess.start(files));
    running = started;
    yield* Effect.tryPromise(() => askRedis(listening, ["PING"])).pipe(
      // Redis answers `LOADING` while it loads its saved data.
      Effect.filterOrFail((reply) => !reply.startsWith("-LOADING")),
      Effect.retry({ schedule: Schedule.spaced("10 millis"), times: 3_000 }),
      Effect.catch(() => Effect.promise(() => failStart("Redis: it does not answer", started))),
    );
  });
  yield* restart;

  const server: RedisServer = {
    port: files.port,
    url: `${listening.tls ? "rediss" : "redis"}://127.0.0.1:${files.port}`,
    ask: (...words) => Effect.promise(() => askRedis(listening, words)),
    freeze: Effect.sync(() => running?.freeze()),
    thaw: Effect.sync(() => running?.thaw()),
    kill: Effect.promise(async () => running?.kill()),
    forget: Effect.promise(() => removeSaved(files.folder)),
    restart,
  };
  return server;
});

const prepare = async ({ config = [], tls, sentinel = false }: RedisServerOptions) => {
  const { file, env } = await requireProgram();
  const folder = await mkdtemp(join(tmpdir(), "accountlink-redis-"));
  const port = await freePort();
  const listens =
    tls === undefined
      ? [`port ${port}`]
      : [
          "port 0",
          `tls-port ${port}`,
          `tls-cert-file ${tls.certificate}`,
          `tls-key-file ${tls.key}`,
          `tls-ca-cert-file ${tls.certificate}`,
          "tls-auth-clients no",
        ];
  const keeps = sentinel ? [] : [`save ""`, "appendonly no"];
  const path = join(folder, "redis.conf");
  await writeFile(path, ["bind 127.0.0.1", ...listens, ...keeps, ...config, ""].join("\n"));
  return { folder, port, env, command: [file, path, ...(sentinel ? ["--sentinel"] : [])] };
};

const removeSaved = async (folder: string): Promise<void> => {
  for (const name of ["appendonlydir", "appendonly.aof", "dump.rdb"]) {
    await rm(join(folder, name), { recursive: true, force: true });
  }
};

const requireProgram = async (): Promise<ServerProgram> => {
  const found = await program();
  if (found === null)
    throw new Error("Cannot start Redis: no program was found, expected the test to be skipped");
  return found;
};
