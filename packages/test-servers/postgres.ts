/** A Postgres for tests. */
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Effect, Scope } from "effect";
import { Client } from "pg";
import { makePostgresCluster, type PostgresServerOptions } from "./internal/postgres_cluster.ts";
import { findPostgres, findPostgresWithTools } from "./internal/postgres_programs.ts";
import { skipReason } from "./internal/skip_reason.ts";
import { type Program, SupervisedProcess } from "./internal/supervised_process.ts";

export type { PostgresServerOptions };

/** A server of our own, so that a test may do to it what it likes. */
export interface PostgresServer {
  readonly port: number;
  /** The folder of its programs. */
  readonly programs: string;
  /** The URL of one of its databases: `postgres://postgres:<password>@127.0.0.1:<port>/<database>`. */
  readonly urlOf: (database: string) => string;
  /** Stops it without closing a connection, as if its machine had frozen. */
  readonly freeze: Effect.Effect<void>;
  /** Ends a freeze. */
  readonly thaw: Effect.Effect<void>;
  /** `kill -9` */
  readonly kill: Effect.Effect<void>;
  /** Ends it as whoever operates it would. */
  readonly stop: Effect.Effect<void>;
  /** Starts it again after it ended, on the same port and data. */
  readonly restart: Effect.Effect<void>;
}

/** A database that nobody else uses. */
export interface PostgresDatabase {
  readonly url: string;
  /** Runs SQL on a connection of its own, past whatever is tested, and gives the rows. */
  readonly query: (sql: string, values?: ReadonlyArray<unknown>) => Effect.Effect<ReadonlyArray<Row>>;
}

type Row = Readonly<Record<string, unknown>>;

const givenUrl = process.env["ACCOUNTLINK_TEST_DATABASE_URL"] ?? "";

/**
 * Why no Postgres can be started here, or null when one can: for the title of a skip.
 *
 * @throws Error in place of a reason when CI=true, where nothing is skipped
 */
export const whyNoPostgres = async (): Promise<string | null> => {
  if ((await findPostgres()) !== null) return null;
  return skipReason("a Postgres", "there is no npm package of one for this platform, and none is installed");
};

/** The same for one that has `pg_dump` and `pg_restore` beside it. */
export const whyNoPostgresWithTools = (): string | null =>
  findPostgresWithTools() === null
    ? skipReason(
        "a Postgres with its tools",
        "none is installed that has pg_dump and pg_restore in its folder",
      )
    : null;

/** The same for a database, which another server can hold as well. */
export const whyNoPostgresDatabase = (): Promise<string | null> =>
  givenUrl === "" ? whyNoPostgres() : Promise.resolve(null);

/** Starts a Postgres on a free port, in a temporary folder. It is gone with the scope, or with this process. */
export const startPostgres = Effect.fnUntraced(function* (options: PostgresServerOptions = {}) {
  const { program, port, programs, password } = yield* Effect.promise(() => makePostgresCluster(options));
  let running: SupervisedProcess | undefined;
  yield* Effect.addFinalizer(() => Effect.promise(async () => running?.remove()));

  const urlOf = (database: string) => `postgres://postgres:${password}@127.0.0.1:${port}/${database}`;
  const restart = Effect.promise(async () => {
    running = await startUntilItAnswers(program, urlOf("postgres"));
  });
  yield* restart;

  const server: PostgresServer = {
    port,
    programs,
    urlOf,
    freeze: Effect.sync(() => running?.freeze()),
    thaw: Effect.sync(() => running?.thaw()),
    kill: Effect.promise(async () => running?.kill()),
    stop: Effect.promise(async () => running?.stop()),
    restart,
  };
  return server;
});

/**
 * Makes an empty database, which is gone with the scope.
 *
 * @param server where; when left out, the one that ACCOUNTLINK_TEST_DATABASE_URL names, whose user may make databases,
 * else one that this process starts once and keeps
 */
export const makePostgresDatabase = Effect.fnUntraced(function* (server?: Pick<PostgresServer, "urlOf">) {
  const urlOf = server?.urlOf ?? (yield* Effect.promise(sharedServer));
  const name = `test_${randomBytes(8).toString("hex")}`;
  const administer = (sql: string) => Effect.promise(() => query(urlOf("postgres"), sql));
  yield* Effect.acquireRelease(administer(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`), () =>
    administer(`DROP DATABASE ${name} WITH (FORCE)`),
  );
  const database: PostgresDatabase = {
    url: urlOf(name),
    query: (sql, values) => Effect.promise(() => query(urlOf(name), sql, values)),
  };
  return database;
});

let shared: Promise<PostgresServer["urlOf"]> | undefined;

const sharedServer = (): Promise<PostgresServer["urlOf"]> => {
  shared ??= givenUrl === "" ? startForGood() : Promise.resolve(urlOfGiven);
  return shared;
};

/** In a scope that nobody closes: it goes with the process. */
const startForGood = async () => {
  const { urlOf } = await Effect.runPromise(Scope.provide(startPostgres(), Scope.makeUnsafe()));
  return urlOf;
};

const urlOfGiven = (database: string): string => {
  const url = new URL(givenUrl);
  url.pathname = `/${database}`;
  return url.href;
};

/** What a killed server leaves for a moment, such as the memory of its children, can keep the next from starting. */
const startUntilItAnswers = async (program: Program, url: string): Promise<SupervisedProcess> => {
  const deadline = performance.now() + 20_000;
  let problem = "";
  while (performance.now() < deadline) {
    const running = await SupervisedProcess.start(program);
    while (performance.now() < deadline && !running.hasEnded()) {
      problem = await query(url, "SELECT 1").then(() => "", String);
      if (problem === "") return running;
      await pause(20);
    }
    problem = `${problem}\n${await running.output()}`;
    await running.stop();
  }
  throw new Error(`Cannot start Postgres: ${problem}`);
};

const query = async (
  connectionString: string,
  sql: string,
  values: ReadonlyArray<unknown> = [],
): Promise<ReadonlyArray<Row>> => {
  const client = new Client({ connectionString, connectionTimeoutMillis: 20_000 });
  // Who is cut off learns it from the statement.
  client.on("error", () => {});
  try {
    await client.connect();
    return (await client.query<Row>(sql, [...values])).rows;
  } finally {
    await client.end();
  }
};
