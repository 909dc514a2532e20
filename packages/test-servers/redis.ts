/** A Redis, or a Valkey, for tests: alone, as a cluster, behind a sentinel. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, Schedule, type Scope } from "effect";
import { askRedis } from "./internal/ask_redis.ts";
import { findServer, type ServerProgram } from "./internal/debian_program.ts";
import { freePort } from "./internal/free_port.ts";
import { skipReason } from "./internal/skip_reason.ts";
import { failStart, SupervisedProcess } from "./internal/supervised_process.ts";

/** A server of our own, so that a test may do to it what it likes. */
export interface RedisServer {
  readonly port: number;
  /** `redis://127.0.0.1:<port>`, or `rediss://` with a certificate. */
  readonly url: string;
  /** The reply to a command, as it comes over the wire. */
  readonly ask: (...words: ReadonlyArray<string>) => Effect.Effect<string>;
  /** Stops it without closing a connection, as if its machine had frozen. */
  readonly freeze: Effect.Effect<void>;
  /** Ends a freeze. */
  readonly thaw: Effect.Effect<void>;
  /** `kill -9`. It has the data that its configuration made it save, by itself none. */
  readonly kill: Effect.Effect<void>;
  /** Takes from it, after a kill, what it has saved. */
  readonly forget: Effect.Effect<void>;
  /** Starts it again after a kill, on the same port and with the data that it has saved. */
  readonly restart: Effect.Effect<void>;
}

/** What a server may be started with. */
export interface RedisServerOptions {
  /** Lines of its configuration file. */
  readonly config?: ReadonlyArray<string>;
  /** Files of a certificate for 127.0.0.1 and its key: it listens for TLS alone. */
  readonly tls?: { readonly certificate: string; readonly key: string };
  /** It is a sentinel, and keeps its state in its configuration file. */
  readonly sentinel?: boolean;
}

const program = findServer({
  names: ["redis-server", "valkey-server"],
  path: "usr/bin/redis-server",
  packages: ["redis-server", "redis-tools", "liblzf1", "libjemalloc2", "libatomic1"],
});
const givenUrl = process.env["ACCOUNTLINK_TEST_REDIS_URL"] ?? "";

/**
 * Why no Redis can be started here, or null when one can: for the title of a skip.
 *
 * @throws Error in place of a reason when CI=true, where nothing is skipped
 */
export const whyNoRedis = async (): Promise<string | null> => {
  if ((await program) !== null) return null;
  return skipReason(
    "Redis",
    "there is no redis-server or valkey-server on PATH, and no Debian package of it to unpack",
  );
};

/** The same for a Redis that is not to be broken, which one that runs already can be as well. */
export const whyNoRedisUrl = (): Promise<string | null> =>
  givenUrl === "" ? whyNoRedis() : Promise.resolve(null);

/**
 * A Redis that many may use, each with keys of its own: the one that ACCOUNTLINK_TEST_REDIS_URL names, else one that is
 * started.
 */
export const redisUrl: Effect.Effect<string, never, Scope.Scope> = Effect.suspend(() =>
  givenUrl === "" ? Effect.map(startRedis(), (server) => server.url) : Effect.succeed(givenUrl),
);

/** Starts a Redis on a free port, in a temporary folder. It is gone with the scope, or with this process. */
export const startRedis = Effect.fnUntraced(function* (options: RedisServerOptions = {}) {
  const files = yield* Effect.promise(() => prepare(options));
  const listening = { port: files.port, tls: options.tls !== undefined };
  let running: SupervisedProcess | undefined;
  yield* Effect.addFinalizer(() => Effect.promise(async () => running?.remove()));

  const restart = Effect.gen(function* () {
    const started = yield* Effect.promise(() => SupervisedProcess.start(files));
    running = started;
    yield* Effect.tryPromise(() => askRedis(listening, ["PING"])).pipe(
      // While it reads what it has saved, it answers that it does.
      Effect.filterOrFail((reply) => !reply.startsWith("-LOADING")),
      Effect.retry({ schedule: Schedule.spaced("10 millis"), times: 500 }),
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
  const found = await program;
  if (found === null)
    throw new Error("Cannot start Redis: no program was found, expected whyNoRedis to say so");
  return found;
};
