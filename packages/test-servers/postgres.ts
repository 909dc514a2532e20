/** A Postgres for tests. */
import { randomBytes } from "node:crypto";
import { Effect, Scope } from "effect";
import { makePostgresCluster, type PostgresServerOptions } from "./internal/postgres_cluster.ts";
import { findPostgres, findPostgresWithTools } from "./internal/postgres_programs.ts";
import { type PostgresServer, query, type Row, runPostgres } from "./internal/running_postgres.ts";
import { skipReason } from "./internal/skip_reason.ts";

export type { PostgresServer, PostgresServerOptions };

/** A database that nobody else uses. */
export interface PostgresDatabase {
  readonly url: string;
  /** Runs SQL on a connection of its own, past whatever is tested, and gives the rows. */
  readonly query: (sql: string, values?: ReadonlyArray<unknown>) => Effect.Effect<ReadonlyArray<Row>>;
}

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
export const startPostgres = (options: PostgresServerOptions = {}) =>
  Effect.flatMap(
    Effect.promise(() => makePostgresCluster(options)),
    runPostgres,
  );

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
