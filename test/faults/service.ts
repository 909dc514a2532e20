/** A service of three server processes on a Postgres and a Redis, with a network that tests can break. */
import { randomBytes } from "node:crypto";
import {
  type PostgresServer,
  type RedisServer,
  startPostgres,
  startProxy,
  startRedis,
  type TcpProxy,
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

/** A server process with its proxies to Postgres and Redis. */
export interface Node extends Target {
  readonly url: () => string;
  readonly links: { readonly postgres: TcpProxy; readonly redis: TcpProxy };
  readonly kill: Effect.Effect<void>;
  /** Sends SIGTERM and returns the exit code. */
  readonly stop: Effect.Effect<number | null>;
  readonly output: () => string;
  /** @param program the path of another release's `main.ts` */
  readonly restart: (program?: string) => Effect.Effect<void>;
  readonly freeze: Effect.Effect<void>;
  readonly thaw: Effect.Effect<void>;
}

export interface Service {
  readonly nodes: ReadonlyArray<Node>;
  readonly postgres: PostgresServer;
  readonly redis: RedisServer;
  /** Environment variables that connect the command line to Postgres and Redis without the nodes' proxies. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface ServiceOptions {
  readonly fixture: object;
  readonly env?: Readonly<Record<string, string>>;
  /** A running Postgres; by default, a new one. */
  readonly postgres?: PostgresServer;
}

/** Returns null if a service can be started, else the reason, for titles of skipped tests. */
export const whyNoService = async (): Promise<string | null> =>
  (await whyNoPostgres()) ?? (await whyNoRedis());

/** Starts a service, which ends with the scope. */
export const startService = Effect.fnUntraced(function* (options: ServiceOptions) {
  const postgres = options.postgres ?? (yield* startPostgres());
  // A killed Redis keeps its data; tests that need data loss delete it.
  const redis = yield* startRedis({ config: ["appendonly yes", "appendfsync everysec"] });
  const environment = {
    ACCOUNTLINK_STORAGE: "postgres",
    ACCOUNTLINK_DATABASE_URL: postgres.urlOf("postgres"),
    ACCOUNTLINK_CACHE: "redis",
    ACCOUNTLINK_REDIS_URL: redis.url,
    ACCOUNTLINK_SECRET: randomBytes(32).toString("base64"),
    ...options.env,
  };
  const start = (name: string) => startNode(name, { fixture: options.fixture, environment, postgres, redis });
  // The first node creates the schema and loads the fixture before the others start.
  const nodes = [
    yield* start("one"),
    ...(yield* Effect.all([start("two"), start("three")], { concurrency: 2 })),
  ];
  const service: Service = { nodes, postgres, redis, environment };
  return service;
});

interface NodeOptions extends Pick<Service, "postgres" | "redis" | "environment"> {
  readonly fixture: object;
}

const startNode = Effect.fnUntraced(function* (
  name: string,
  { fixture, environment, postgres, redis }: NodeOptions,
) {
  const links = { postgres: yield* startProxy(postgres.port), redis: yield* startProxy(redis.port) };
  const env = {
    ...environment,
    ACCOUNTLINK_DATABASE_URL: throughProxy(environment["ACCOUNTLINK_DATABASE_URL"] ?? "", links.postgres),
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

  const node: Node = {
    name,
    url: () => server.url,
    send: (line, request) => server.send(line, request),
    links,
    isUp: () => isUp,
    disturbances: () => disturbances,
    kill: Effect.promise(() => {
      disturb(false);
      return server.kill();
    }),
    stop: Effect.promise(() => {
      disturb(false);
      return server.stop();
    }),
    output: () => server.output(),
    restart: (program) =>
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
  return node;
});
