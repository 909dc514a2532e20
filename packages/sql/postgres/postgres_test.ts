import { StorageIdentity } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import {
  makeCertificate,
  makeCertificateFor,
  makePostgresDatabase,
  makePostgresUser,
  startPostgres,
  startProxy,
  whyNoCertificate,
  whyNoPostgres,
  whyNoPostgresDatabase,
} from "@accountlink/test-servers";
import { describe, expect, testLive as test } from "@accountlink/test-servers/effect";
import { Deferred, Effect, Exit, Fiber, Layer, Logger, Redacted, type Scope } from "effect";
import { SqlClient } from "effect/sql";
import { migrate, migrations, newestMigration, runMigrations } from "../migrations.ts";
import { dialectOf } from "../statements/dialect.ts";
import { makeStep20 } from "../test_earlier_steps.ts";
import * as StoragePostgres from "./mod.ts";
import { Database, generous, layerClient, testOnDatabase } from "./test_postgres.ts";

const { inspectPostgres, layerPostgres, migratePostgres } = StoragePostgres;

const [noDatabase, noServer] = [await whyNoPostgresDatabase(), await whyNoPostgres()];
const noTls = noServer ?? (await whyNoCertificate());

const optionsOf = (url: string | URL) => ({ url: Redacted.make(String(url)), ...generous });

const names = Object.keys(migrations).map((key) => key.replace(/^\d+_/, ""));

type Parts = Partial<Pick<URL, "password" | "pathname" | "port" | "search">>;

const withParts = (url: string, parts: Parts): URL => Object.assign(new URL(url), parts);

describe.skipIf(noDatabase !== null)(`layerPostgres ${noDatabase ?? ""}`, () => {
  test.each<readonly [string, Parts, string]>([
    ["a wrong password", { password: "guess" }, "it refuses the user or the password (28P01)"],
    ["a missing database", { pathname: "/none" }, "the server has none of that name (3D000)"],
    ["a closed port", { port: "1" }, "the connection failed (ECONNREFUSED)"],
    [
      "a missing file of authorities",
      { search: "?sslmode=verify-full&sslrootcert=/none/at/all" },
      "ENOENT: no such file or directory, open '/none/at/all'",
    ],
  ])("the error of %s contains no secrets", function* ([, parts, reason]) {
    const spoilt = withParts((yield* makePostgresDatabase()).url, parts);
    const attempts: ReadonlyArray<Effect.Effect<unknown, StoragePostgres.PostgresError, Scope.Scope>> = [
      Layer.build(layerPostgres(optionsOf(spoilt))),
      migratePostgres(optionsOf(spoilt)),
      inspectPostgres(optionsOf(spoilt)),
    ];
    for (const attempt of attempts) {
      const error = yield* Effect.flip(Effect.scoped(attempt));
      expect(error._tag).toBe("DatabaseUnusable");
      expect(error.message).toBe(`Cannot use database "${spoilt.host}${spoilt.pathname}": ${reason}`);
    }
  });

  test.each([
    "ssl=true",
    "ssl=require",
    "sslMode=require",
    "tls=true",
    "channel_binding=require",
    "sslnegotiation=direct",
    "requiressl=1",
    "sslmode=Require",
    "sslmode=",
    "sslmode=disable&sslmode=require",
  ])("a URL with %s is refused, since it asks for encryption in another way", function* (search) {
    const url = withParts("postgres://user:password@127.0.0.1:1/database", { search });
    const error = yield* Effect.flip(Effect.scoped(migratePostgres(optionsOf(url))));
    expect(error.message).toMatch(
      /^Cannot use database "127.0.0.1:1\/database": its URL has .*, expected sslmode/,
    );
  });

  test.each([
    "schema=links",
    "currentSchema=links",
    "search_path=links",
    "statement_timeout=5000",
    "connect_timeout=10",
    "client_encoding=latin1",
    "target_session_attrs=standby",
    "application_name=a&application_name=b",
    "host=a,b",
    "pgbouncer=true",
    "connection_limit=5",
    "keepalives=1",
  ])("a URL with %s is refused, since it would be passed over", function* (search) {
    const url = withParts("postgres://user:password@127.0.0.1:1/database", { search });
    const error = yield* Effect.flip(Effect.scoped(migratePostgres(optionsOf(url))));
    const [name] = search.split("=");
    expect(error.message).toContain(`its URL has "${name}", expected no parameters but host, port, user`);
  });

  test("the parameters of a URL that have a meaning are honoured", function* () {
    const { url } = yield* makePostgresDatabase();
    const search =
      "?application_name=links&client_encoding=UTF8&target_session_attrs=read-write&options=-c%20work_mem%3D1MB";
    yield* Effect.scoped(migratePostgres(optionsOf(`${url}${search}`)));
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient;
      const rows =
        yield* sql`SELECT current_setting('application_name') AS name, current_setting('work_mem') AS memory`;
      expect(rows).toEqual([{ name: "links", memory: "1MB" }]);
    }).pipe(Effect.provide(layerClient(`${url}${search}`)));
  });

  test("the error of a user who may not make tables says so, and the inspection does", function* () {
    const database = yield* makePostgresDatabase();
    const options = optionsOf((yield* makePostgresUser(database)).urlAt(database.url));
    const error = yield* Effect.flip(migratePostgres(options));
    expect(error.message).toMatch(
      /: permission denied for schema public, expected a user who owns the database and its tables \(42501\)$/,
    );
    expect(yield* inspectPostgres(options)).toMatchObject({ ownSchema: null, schema: { version: 0 } });
    expect(yield* inspectPostgres(optionsOf(database.url))).toMatchObject({ ownSchema: "public" });
  });

  test("the error of a table that another program made names the table", function* () {
    const { url, query } = yield* makePostgresDatabase();
    yield* query("CREATE TABLE links (id integer)");
    const error = yield* Effect.flip(migratePostgres(optionsOf(url)));
    expect(error.message).toMatch(/: relation "links" already exists \(42P07\)$/);
  });

  test("a client certificate without a mode means TLS", function* () {
    const url = withParts("postgres://user@127.0.0.1:1/database", { search: "sslcert=/none/at/all" });
    const error = yield* Effect.flip(Effect.scoped(migratePostgres(optionsOf(url))));
    expect(error.message).toContain("open '/none/at/all'");
  });

  test("a database of another encoding than UTF8, which cannot store every name, causes a warning", function* () {
    const { url, query } = yield* makePostgresDatabase();
    const latin = withParts(url, { pathname: `${new URL(url).pathname}_latin` });
    const name = latin.pathname.slice(1);
    yield* Effect.acquireRelease(
      query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C'`),
      () => query(`DROP DATABASE ${name} WITH (FORCE)`),
    );
    const warnings: Array<unknown> = [];
    const logger = Logger.make(({ message }) => void warnings.push(message));
    yield* Effect.provide(migratePostgres(optionsOf(latin)), Logger.layer([logger]));
    expect(warnings).toEqual([
      [expect.stringContaining(`database "${latin.host}/${name}" is LATIN1, expected UTF8`)],
    ]);
    expect(yield* inspectPostgres(optionsOf(latin))).toMatchObject({ encoding: "LATIN1" });
  });

  test.each(["cut", "silence"] as const)(
    "a start waits for a database that is not available yet: %s",
    function* (fault) {
      const { url } = yield* makePostgresDatabase();
      const proxy = yield* startProxy(Number(new URL(url).port));
      yield* proxy[fault];
      const waits = yield* Deferred.make<unknown>();
      const logger = Logger.make(({ message }) => void Deferred.doneUnsafe(waits, Exit.succeed(message)));
      const timeouts = { connectTimeout: "1 second", startTimeout: "1 minute" } as const;
      const options = { ...optionsOf(withParts(url, { port: `${proxy.port}` })), ...timeouts };
      const migrating = yield* migratePostgres(options).pipe(
        Effect.provide(Logger.layer([logger])),
        Effect.forkChild,
      );
      expect(String(yield* Deferred.await(waits))).toMatch(/^Waiting up to 1m: Cannot use database /);
      yield* proxy.restore;
      expect(yield* Fiber.join(migrating)).toEqual(names);
    },
  );

  test.each<readonly [string, Parts]>([
    ["a missing database", { pathname: "/none" }],
    ["a wrong password", { password: "guess" }],
  ])("a start fails at once for %s, despite a start timeout", function* ([, parts]) {
    const logged: Array<unknown> = [];
    const logger = Logger.make(({ message }) => void logged.push(message));
    const { url } = yield* makePostgresDatabase();
    const options = { ...optionsOf(withParts(url, parts)), startTimeout: "1 hour" } as const;
    const error = yield* Effect.flip(migratePostgres(options).pipe(Effect.provide(Logger.layer([logger]))));
    expect(error._tag).toBe("DatabaseUnusable");
    expect(logged).toEqual([]);
  });

  test.each(["mysql://user:hidden@host/name", "host/name?password=hidden", "", "postgres//user:hidden@host"])(
    "the URL %s is refused without repeating it",
    function* (url) {
      const error = yield* Effect.flip(migratePostgres(optionsOf(url)));
      expect(error.message).toBe(
        'Cannot use database "postgres": its URL is malformed, expected "postgres://user:password@host:port/database"',
      );
    },
  );
});

describe.skipIf(noTls !== null)(`layerPostgres over TLS ${noTls ?? ""}`, () => {
  test("the stores connect only to servers with a valid certificate", function* () {
    const { certificate, key } = yield* makeCertificate;
    const server = yield* startPostgres({ tls: { certificate, key } });
    const { url } = yield* makePostgresDatabase(server);
    const over = (search: string) => optionsOf(withParts(url, { search }));

    expect((yield* Effect.flip(inspectPostgres(over("?sslmode=require")))).message).toContain("CERT");
    const trusting = over(`?sslmode=require&sslrootcert=${certificate}`);
    expect(yield* migratePostgres(trusting)).toEqual(names);
    expect((yield* inspectPostgres(over("?sslmode=no-verify"))).schema.version).toBe(newestMigration);

    const other = yield* makeCertificate;
    const refusal = (search: string) =>
      Effect.map(
        Effect.flip(migratePostgres({ ...over(search), startTimeout: "1 minute" })),
        ({ message }) => message,
      );
    expect(yield* refusal("?sslmode=require")).toContain(
      "is signed by itself, expected an authority that sslrootcert names",
    );
    expect(yield* refusal(`?sslcert=${certificate}&sslkey=${other.key}`)).toContain(
      `sslkey "${other.key}" does not belong to sslcert "${certificate}"`,
    );
    expect(yield* refusal(`?sslrootcert=${key}`)).toContain(`sslrootcert "${key}" holds no certificate`);
    expect(yield* refusal("?sslrootcert=system")).toContain("is signed by itself");
  });

  test.each([
    ["is over since", { days: -1 }],
    ['is for DNS:elsewhere.example, expected one for "127.0.0.1"', { name: "DNS:elsewhere.example" }],
  ] as const)("a start is refused at once if the certificate %s", function* ([problem, made]) {
    const { certificate, key } = yield* makeCertificateFor(made);
    const server = yield* startPostgres({ tls: { certificate, key } });
    const { url } = yield* makePostgresDatabase(server);
    const options = optionsOf(withParts(url, { search: `?sslmode=verify-full&sslrootcert=${certificate}` }));
    const at = performance.now();
    const { message } = yield* Effect.flip(migratePostgres({ ...options, startTimeout: "1 minute" }));
    expect(message).toContain(problem);
    expect(performance.now() - at).toBeLessThan(20_000);
  });
});

describe.skipIf(noDatabase !== null)(`migrations ${noDatabase ?? "on Postgres"}`, () => {
  const schema = Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      SELECT table_name, column_name, data_type, is_nullable, column_default, collation_name
      FROM information_schema.columns WHERE table_schema = 'public'
      UNION ALL SELECT tablename, indexdef, '', '', '', '' FROM pg_indexes WHERE schemaname = 'public'
      ORDER BY 1, 2`,
  );
  testOnDatabase()("a database of the 20 steps before the first release gets the same schema", function* () {
    yield* migrate;
    const first = yield* schema;
    const sql = yield* SqlClient.SqlClient;
    yield* sql`DROP SCHEMA public CASCADE`;
    yield* sql`CREATE SCHEMA public`;
    yield* makeStep20;
    expect(yield* migrate).toEqual(names);
    expect(yield* schema).toEqual(first);
  });

  test("migrations run once when several nodes start together", function* () {
    const { url } = yield* makePostgresDatabase();
    const starts = Array.from({ length: 4 }, () => migratePostgres(optionsOf(url)));
    const answers = yield* Effect.all(starts, { concurrency: "unbounded" });
    expect(answers.toSorted((one, other) => one.length - other.length)).toEqual([[], [], [], names]);
  });

  test("running nodes keep working after migrations of a newer release, but no node of the old release can start", function* () {
    const { url } = yield* makePostgresDatabase();
    const node = yield* Layer.build(layerPostgres(optionsOf(url)));
    const addColumn = Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`ALTER TABLE accounts ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey'`,
    );
    const account = { name: "acme", chatId: null, tier: "free" } as const;
    const use = KeyStore.use((keys) => keys.ensureAccount(account)).pipe(Effect.provideContext(node));
    expect(yield* use).toMatchObject(account);

    yield* runMigrations({ ...migrations, "0999_colours": Effect.asVoid(addColumn) }).pipe(
      Effect.provide(layerClient(url)),
    );

    expect(yield* use).toMatchObject(account);
    expect(yield* inspectPostgres(optionsOf(url))).toMatchObject({
      schema: { version: 999, newest: newestMigration },
    });
    expect(yield* Effect.flip(migratePostgres(optionsOf(url)))).toMatchObject({
      _tag: "DatabaseTooNew",
      version: 999,
      known: newestMigration,
    });
  });

  testOnDatabase()(
    "a migration that cannot lock a table fails soon, because other statements would wait behind the migration",
    function* () {
      const { url } = yield* Database;
      const sql = yield* SqlClient.SqlClient;
      yield* migrate;
      const change = Effect.flatMap(SqlClient.SqlClient, (other) =>
        dialectOf(other).withMigrationLock(other`ALTER TABLE links ADD COLUMN colour TEXT`),
      );
      const error = yield* sql`SELECT 1 FROM links`.pipe(
        Effect.andThen(Effect.flip(Effect.provide(change, layerClient(url), { local: true }))),
        sql.withTransaction,
      );
      expect(error.reason._tag).toBe("LockTimeoutError");
    },
  );
});

const identityOf = (url: string) =>
  StorageIdentity.pipe(Effect.provide(layerPostgres(optionsOf(url)), { local: true }));

describe.skipIf(noDatabase !== null)(`the identity of a database ${noDatabase ?? ""}`, () => {
  test("a database has the same identity on every node, and no other database has it", function* () {
    const [one, other] = [yield* makePostgresDatabase(), yield* makePostgresDatabase()];
    const identity = yield* identityOf(one.url);
    expect(identity).toMatch(/^\d+-\d+$/);
    expect(yield* identityOf(one.url)).toBe(identity);
    expect(yield* identityOf(other.url)).not.toBe(identity);
  });

  test("the database identity has no server part if the server hides its identifier", function* () {
    const database = yield* makePostgresDatabase();
    const { query } = database;
    const { name, urlAt } = yield* makePostgresUser(database);
    yield* query(`GRANT ALL ON SCHEMA public TO ${name}`);
    const own = urlAt(database.url);
    expect(yield* identityOf(own)).toMatch(/^\d+-\d+$/);
    yield* query("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC");
    expect(yield* identityOf(own)).toMatch(/^-\d+$/);
  });
});
