import { randomBytes } from "node:crypto";
import { Effect, Scope } from "effect";
import { skipReason } from "../skip_reason.ts";
import { makePostgresCluster, type PostgresServerOptions } from "./postgres_cluster.ts";
import { findPostgres, findPostgresWithTools } from "./postgres_programs.ts";
import { query as ask, type PostgresServer, type Row, runPostgres } from "./running_postgres.ts";

export type { PostgresServer, PostgresServerOptions };

export interface PostgresDatabase {
  readonly url: string;
  /** Runs SQL on a separate connection, and returns the rows. */
  readonly query: (sql: string, values?: ReadonlyArray<unknown>) => Effect.Effect<ReadonlyArray<Row>>;
}

const givenUrl = process.env["ACCOUNTLINK_TEST_DATABASE_URL"] ?? "";

/**
 * Returns null if Postgres is available, else the reason, for titles of skipped tests. With CI=true, throws instead.
 */
export const whyNoPostgres = async (): Promise<string | null> => {
  if ((await findPostgres()) !== null) return null;
  return skipReason("a Postgres", "no npm package has one for this platform, and none is installed");
};

/**
 * Returns null if a Postgres with `pg_dump` and `pg_restore` is installed, else the reason. With CI=true, throws
 * instead.
 */
export const whyNoPostgresWithTools = (): string | null =>
  findPostgresWithTools() === null
    ? skipReason(
        "a Postgres with its tools",
        "none is installed that has pg_dump and pg_restore in its folder",
      )
    : null;

/** Returns null if `makePostgresDatabase` can create a database, else the reason. With CI=true, throws instead. */
export const whyNoPostgresDatabase = (): Promise<string | null> =>
  givenUrl === "" ? whyNoPostgres() : Promise.resolve(null);

/**
 * Starts a Postgres on a free port, in a temporary folder. It is stopped when the scope closes or this process ends.
 */
export const startPostgres = (options: PostgresServerOptions = {}) =>
  Effect.flatMap(
    Effect.promise(() => makePostgresCluster(options)),
    runPostgres,
  );

/**
 * Creates an empty database, and drops it when the scope closes.
 *
 * @param server the server of the database. By default, it is the server at ACCOUNTLINK_TEST_DATABASE_URL, whose user
 * must be allowed to create databases. Without this variable, it is a server that this process starts once.
 */
export const makePostgresDatabase = Effect.fnUntraced(function* (server?: Pick<PostgresServer, "urlOf">) {
  const urlOf = server?.urlOf ?? (yield* Effect.promise(sharedServer));
  const name = `test_${randomBytes(8).toString("hex")}`;
  const administer = (sql: string) => Effect.promise(() => ask(urlOf("postgres"), sql));
  // The strategy FILE_COPY takes a quarter of the time of the default strategy, which logs every page.
  yield* Effect.acquireRelease(
    administer(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8' STRATEGY FILE_COPY`),
    () => administer(`DROP DATABASE ${name} WITH (FORCE)`),
  );
  const database: PostgresDatabase = {
    url: urlOf(name),
    query: (sql, values) => Effect.promise(() => ask(urlOf(name), sql, values)),
  };
  return database;
});

/** Creates a user, and drops it with what it has in the database when the scope closes. */
export const makePostgresUser = Effect.fnUntraced(function* ({ query }: PostgresDatabase, attributes = "") {
  const name = `user_${randomBytes(8).toString("hex")}`;
  yield* Effect.acquireRelease(query(`CREATE ROLE ${name} LOGIN PASSWORD 'word' ${attributes}`), () =>
    query(`DROP OWNED BY ${name}; DROP ROLE ${name}`),
  );
  const urlAt = (url: string): string =>
    Object.assign(new URL(url), { username: name, password: "word" }).href;
  return { name, urlAt };
});

let shared: Promise<PostgresServer["urlOf"]> | undefined;

const sharedServer = (): Promise<PostgresServer["urlOf"]> => {
  shared ??= givenUrl === "" ? startForGood() : Promise.resolve(urlOfGiven);
  return shared;
};

/** Starts a server in a scope that never closes, so the server runs until this process ends. */
const startForGood = async () => {
  const { urlOf } = await Effect.runPromise(Scope.provide(startPostgres(), Scope.makeUnsafe()));
  return urlOf;
};

const urlOfGiven = (database: string): string => {
  const url = new URL(givenUrl);
  url.pathname = `/${database}`;
  return url.href;
};
