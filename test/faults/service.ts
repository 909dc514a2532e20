/** A service of three server processes on a storage and a Redis, with a network that tests can break. */
import { storageAt } from "@accountlink/server/test_command_line";
import {
  type PostgresServer,
  type RedisServer,
  startPostgres,
  startProxy,
  startRedis,
  throughProxy,
  whyNoPostgres,
  whyNoRedis,
} from "@accountlink/test-servers";
import { Effect } from "effect";
import { expect } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { Send } from "../support/http.ts";
import { startServer } from "../support/server.ts";

/** A server process that may fail while clients use it. */
export interface Target {
  readonly name: string;
  /** Sends a request to the current process. */
  readonly send: Send;
  readonly isUp: () => boolean;
  /** How often the process was killed, stopped, frozen or thawed. Each time, connections may break. */
  readonly disturbances: () => number;
}

/** A server process with its proxies to the storage and the Redis of limits and signals. */
export type Node = Effect.Success<ReturnType<typeof startNode>>;

/** The server that keeps the data of all nodes. */
type StorageServer = Pick<PostgresServer, "port" | "freeze" | "thaw" | "kill" | "restart">;

export type Service = Effect.Success<ReturnType<typeof startService>>;

export interface ServiceOptions {
  readonly fixture: object;
  readonly env?: Readonly<Record<string, string>>;
  /** Where the data is: a new Postgres by default, or a new Redis of its own. */
  readonly storage?: "postgres" | "redis" | PostgresServer;
}

const startStorage = Effect.fnUntraced(function* (storage: ServiceOptions["storage"] = "postgres") {
  if (storage === "redis") {
    const redis = yield* startRedis({ config: ["appendonly yes", "appendfsync always"] });
    return { kind: "redis", server: redis satisfies StorageServer, url: redis.url };
  }
  const postgres = storage === "postgres" ? yield* startPostgres() : storage;
  return { kind: "postgres", server: postgres satisfies StorageServer, url: postgres.urlOf("postgres") };
});

/** Returns null if a service can be started, else the reason, for titles of skipped tests. */
export const whyNoService = async (): Promise<string | null> =>
  (await whyNoPostgres()) ?? (await whyNoRedis());

export const startService = Effect.fnUntraced(function* (options: ServiceOptions) {
  const storage = yield* startStorage(options.storage);
  // A killed Redis keeps its data; tests that need data loss delete it.
  const redis = yield* startRedis({ config: ["appendonly yes", "appendfsync everysec"] });
  /** Environment variables that connect the command line to the storage and Redis without the nodes' proxies. */
  const environment: Readonly<Record<string, string>> = {
    ...storageAt(storage.url),
    ACCOUNTLINK_CACHE: "redis",
    ACCOUNTLINK_REDIS_URL: redis.url,
    ...options.env,
  };
  const { fixture } = options;
  const start = (name: string) => startNode(name, { fixture, environment, storage: storage.server, redis });
  // The first node creates the schema and loads the fixture before the others start.
  const nodes: ReadonlyArray<Node> = [
    yield* start("one"),
    ...(yield* Effect.all([start("two"), start("three")], { concurrency: 2 })),
  ];
  return { nodes, storage: storage.server, redis, environment };
});

interface NodeOptions {
  readonly fixture: object;
  readonly environment: Readonly<Record<string, string>>;
  readonly storage: StorageServer;
  readonly redis: RedisServer;
}

const startNode = Effect.fnUntraced(function* (
  name: string,
  { fixture, environment, storage, redis }: NodeOptions,
) {
  const links = { storage: yield* startProxy(storage.port), redis: yield* startProxy(redis.port) };
  const env = {
    ...environment,
    ACCOUNTLINK_DATABASE_URL: throughProxy(environment["ACCOUNTLINK_DATABASE_URL"] ?? "", links.storage),
    ACCOUNTLINK_REDIS_URL: throughProxy(environment["ACCOUNTLINK_REDIS_URL"] ?? "", links.redis),
  };
  const start = (program?: string) =>
    startServer({ fixture, env, ...(program === undefined ? {} : { program }) });
  let server = yield* Effect.promise(() => start());
  yield* Effect.addFinalizer(() => Effect.promise(() => server.kill()));
  // Wait until the node is ready. On a busy machine, the first request may fail, because the node gets no database
  // connection in time.
  yield* Effect.promise(() =>
    eventually(async () => expect((await server.send("GET /readyz")).status).toBe(200)),
  );
  let isUp = true;
  let disturbances = 0;
  const disturb = (nowUp: boolean) => {
    disturbances++;
    isUp = nowUp;
  };

  const target: Target = {
    name,
    send: (line, request) => server.send(line, request),
    isUp: () => isUp,
    disturbances: () => disturbances,
  };
  return {
    ...target,
    url: () => server.url,
    links,
    kill: Effect.promise(() => {
      disturb(false);
      return server.kill();
    }),
    /** Sends SIGTERM and returns the exit code. */
    stop: Effect.promise(() => {
      disturb(false);
      return server.stop();
    }),
    output: () => server.output(),
    /** @param program the path of another release's `main.ts` */
    restart: (program?: string) =>
      Effect.promise(async () => {
        server = await start(program);
        disturb(true);
      }),
    freeze: Effect.sync(() => {
      disturb(false);
      process.kill(server.pid, "SIGSTOP");
    }),
    thaw: Effect.sync(() => {
      process.kill(server.pid, "SIGCONT");
      disturb(true);
    }),
  };
});
