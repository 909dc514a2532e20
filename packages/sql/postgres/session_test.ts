import { setImmediate } from "node:timers/promises";
import {
  makePostgresDatabase,
  makePostgresUser,
  type PostgresServer,
  startPostgres,
  startPostgresWithStandby,
  startProxy,
  type TcpProxy,
  whyNoPostgres,
  whyNoPostgresDatabase,
} from "@accountlink/test-servers";
import { describe, expect, testLive, layer as withLayer } from "@accountlink/test-servers/effect";
import { Context, Effect, Exit, Fiber, Latch, Layer, Scope } from "effect";
import { SqlClient, SqlConnection, SqlError } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { Database, layerClient, testOnDatabase } from "./test_postgres.ts";

const [noDatabase, noServer] = [await whyNoPostgresDatabase(), await whyNoPostgres()];

/** Timeouts that are as short as possible without expiring on a busy machine. */
const short = { connectTimeout: 1_000, statementTimeout: 600 };

/** The maximum duration of an operation in milliseconds: the two timeouts of `short`, and 250 ms of grace. */
const bound = 1_000 + 600 + 250;
const slack = 10_000;

const one = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1 AS one`);

const sleep = (seconds: number) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT pg_sleep(${seconds})`);

const backends = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    sql`
    SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend' ORDER BY pid`.values,
);

const transact = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(effect));

/** Retries once, for a machine that is too busy to connect in time. */
const soon = Effect.retry({ times: 1 });

const atOnce = { concurrency: "unbounded" } as const;

/** Why an effect failed, and after how many milliseconds. */
const failureOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const started = performance.now();
    const error = yield* Effect.flip(effect);
    const reason = SqlError.isSqlError(error) ? error.reason._tag : "none";
    return { reason, time: performance.now() - started };
  });

const test = testOnDatabase({ maxConnections: 1 });

describe.skipIf(noDatabase !== null)(`connections ${noDatabase ?? "to Postgres"}`, () => {
  testOnDatabase({ maxConnections: 4 })("connections are opened on demand, up to the maximum", function* () {
    yield* Effect.replicateEffect(sleep(0.02), 12, atOnce);
    expect(yield* backends).toHaveLength(3);
  });

  testOnDatabase()("60 reads over the connection limit of a role wait for its connections", function* () {
    const database = yield* Database;
    const user = yield* makePostgresUser(database, "CONNECTION LIMIT 2");
    const reads = Effect.replicateEffect(sleep(0.01), 60, atOnce);
    const read = Effect.all([reads, reads], atOnce).pipe(
      Effect.provide(layerClient(user.urlAt(database.url), { maxConnections: 16 })),
      Effect.scoped,
    );
    expect((yield* read).flat()).toHaveLength(120);
  });

  testOnDatabase()("lookups and transactions give each other the only connection of a role", function* () {
    const database = yield* Database;
    const user = yield* makePostgresUser(database, "CONNECTION LIMIT 1");
    const lookup = SqlConnection.Connection.use(({ execute }) => execute("SELECT 1 AS one", [], undefined));
    const both = Effect.all([transact(one), lookup, transact(one), lookup]).pipe(
      Effect.provide(
        layerClient(user.urlAt(database.url), { connectTimeout: 5_000, statementTimeout: 1_000 }),
      ),
      Effect.scoped,
    );
    expect(yield* both).toHaveLength(4);
  });

  testOnDatabase({ maxConnections: 1, connectTimeout: 1_000 })(
    "connections go to later callers after a waiting caller timed out",
    function* () {
      const [taken, free] = [yield* Latch.make(), yield* Latch.make()];
      const holder = yield* Effect.forkChild(
        transact(Effect.andThen(taken.open, Effect.andThen(one, free.await))),
      );
      yield* taken.await;
      const { reason, time } = yield* failureOf(one);
      expect(reason).toBe("ConnectionError");
      expect(time).toBeLessThan(bound + slack);
      yield* free.open;
      yield* Fiber.join(holder);
      yield* one;
    },
  );

  testOnDatabase({ maxConnections: 2 })(
    "connections do not leak when waiting callers are interrupted",
    function* () {
      yield* one;
      const waiting = yield* Effect.forkChild(Effect.replicateEffect(sleep(0.01), 20, atOnce));
      yield* Effect.yieldNow;
      yield* Fiber.interrupt(waiting);
      const both = Array.from({ length: 2 }, () => transact(sleep(0.02)));
      expect(yield* Effect.all(both, atOnce)).toHaveLength(2);
    },
  );

  test("connections are replaced after the server closed them", function* () {
    const { query } = yield* Database;
    yield* one;
    const before = yield* backends;
    yield* query(
      "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    // The pool may hand out a connection before the client notices that it is closed.
    yield* Effect.retry(one, { times: 1 });
    expect(yield* backends).not.toEqual(before);
  });

  testLive.skipIf(noServer !== null)("a replica refuses connections until it is promoted", function* () {
    const { standby } = yield* startPostgresWithStandby;
    yield* Effect.gen(function* () {
      expect((yield* failureOf(one)).reason).toBe("ConnectionError");
      yield* standby.promote;
      yield* soon(one);
    }).pipe(Effect.provide(layerClient(standby.urlOf("postgres"), short)));
  });

  test("connections are replaced when their server becomes a replica", function* () {
    const sql = yield* SqlClient.SqlClient;
    yield* sql`CREATE TABLE things (id BIGINT)`;
    const before = yield* backends;
    yield* sql`SET default_transaction_read_only = on`;
    const insert = sql`INSERT INTO things VALUES (1)`;
    expect((yield* failureOf(insert)).reason).toBe("ConnectionError");
    yield* insert;
    expect(yield* backends).not.toEqual(before);
  });
});

describe.skipIf(noDatabase !== null)(`deadlines ${noDatabase ?? "on Postgres"}`, () => {
  testOnDatabase({ maxConnections: 1, statementTimeout: 300 })(
    "a deadline cancels a slow statement, and keeps its connection",
    function* () {
      const before = yield* backends;
      expect((yield* failureOf(sleep(60))).reason).toBe("StatementTimeoutError");
      expect((yield* failureOf(transact(sleep(60)))).reason).toBe("StatementTimeoutError");
      expect(yield* backends).toEqual(before);
    },
  );

  testOnDatabase({ maxConnections: 1, statementTimeout: 300 })(
    "a bulk transaction has a later deadline than other transactions",
    function* () {
      const sql = yield* SqlClient.SqlClient;
      yield* dialectOf(sql).asBulk(transact(sleep(0.6)));
      expect((yield* failureOf(transact(sleep(60)))).reason).toBe("StatementTimeoutError");
    },
  );

  testOnDatabase({ statementTimeout: 300 })(
    "deadlines are set on the server too, in case the node is paused",
    function* () {
      const sql = yield* SqlClient.SqlClient;
      const settings = ["statement_timeout", "idle_in_transaction_session_timeout"];
      for (const setting of settings) {
        expect(yield* sql`SELECT current_setting(${setting})`.values).toEqual([["300ms"]]);
      }
    },
  );
});

/** A server and a proxy in front of it, whose connections tests can cut. */
class FlakyPostgres extends Context.Service<
  FlakyPostgres,
  { readonly server: PostgresServer; readonly proxy: TcpProxy; readonly url: string }
>()("@accountlink/sql/postgres/session_test/FlakyPostgres") {
  static readonly layer = Layer.effect(
    FlakyPostgres,
    Effect.gen(function* () {
      const server = yield* startPostgres();
      const proxy = yield* startProxy(server.port);
      const url = new URL((yield* makePostgresDatabase(server)).url);
      url.port = `${proxy.port}`;
      return { server, proxy, url: url.href };
    }),
  );
}

describe.skipIf(noServer !== null)(`an unreachable Postgres ${noServer ?? ""}`, () => {
  withLayer(FlakyPostgres.layer, { excludeTestServices: true })((onFlaky) => {
    onFlaky.effect("a silent connection fails one operation, and none after it", () =>
      Effect.gen(function* () {
        const { proxy, url } = yield* FlakyPostgres;
        yield* Effect.gen(function* () {
          yield* soon(Effect.all([sleep(0.05), sleep(0.05), sleep(0.05)], atOnce));
          yield* proxy.silence;
          yield* proxy.restore;
          expect((yield* failureOf(one)).reason).toBe("ConnectionError");
          for (let i = 0; i < 6; i++) yield* soon(one);
        }).pipe(Effect.provide(layerClient(url, short)));
      }),
    );

    onFlaky.effect("a silent connection fails the next operation soon, also after a bulk transaction", () =>
      Effect.gen(function* () {
        const { proxy, url } = yield* FlakyPostgres;
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient;
          yield* soon(dialectOf(sql).asBulk(transact(sleep(1.5))));
          yield* proxy.silence;
          const { reason, time } = yield* failureOf(one).pipe(Effect.ensuring(proxy.restore));
          expect(reason).toBe("ConnectionError");
          expect(time).toBeLessThan(bound + slack);
        }).pipe(Effect.provide(layerClient(url, { ...short, maxConnections: 1 })));
      }),
    );

    onFlaky.effect("all silent connections are noticed after the same time", () =>
      Effect.gen(function* () {
        const { proxy, url } = yield* FlakyPostgres;
        yield* Effect.gen(function* () {
          const each = Array.from({ length: 15 }, (_, i) => i);
          yield* soon(Effect.forEach(each, () => sleep(0.1), atOnce));
          yield* proxy.silence;
          const late = (i: number) => Effect.delay(failureOf(one), 7 * i);
          const failures = yield* Effect.forEach(each, late, atOnce).pipe(Effect.ensuring(proxy.restore));
          const times = failures.map(({ time }) => time);
          expect(Math.max(...times) - Math.min(...times)).toBeLessThan(short.statementTimeout);
        }).pipe(Effect.provide(layerClient(url, { ...short, maxConnections: 20 })));
      }),
    );

    onFlaky.effect("a silent connection ends the others that have had no answer since", () =>
      Effect.gen(function* () {
        const { proxy, url } = yield* FlakyPostgres;
        yield* Effect.gen(function* () {
          yield* soon(Effect.all([sleep(0.1), sleep(0.1)], atOnce));
          yield* proxy.silence;
          const first = yield* Effect.forkChild(failureOf(one));
          yield* Effect.sleep(100);
          const second = yield* Effect.forkChild(failureOf(one));
          yield* Fiber.join(first).pipe(Effect.ensuring(proxy.restore));
          // The second one ends with the first: its own deadline is a tenth of a second later.
          for (let turn = 0; turn < 20; turn++) yield* Effect.promise(() => setImmediate());
          expect(second.pollUnsafe()).toBeDefined();
        }).pipe(Effect.provide(layerClient(url, { ...short, maxConnections: 3 })));
      }),
    );

    onFlaky.effect("an unreachable server does not delay the closing of the pool", () =>
      Effect.gen(function* () {
        const { proxy, url } = yield* FlakyPostgres;
        const scope = yield* Scope.make();
        const context = yield* Layer.buildWithScope(layerClient(url, short), scope);
        const started = yield* Latch.make();
        yield* Effect.gen(function* () {
          yield* soon(Effect.all([sleep(0.02), sleep(0.02)], atOnce));
          yield* Effect.forkChild(Effect.exit(transact(Effect.andThen(started.open, one))));
          yield* started.await;
          yield* proxy.silence;
        }).pipe(Effect.provideContext(context));
        const closing = performance.now();
        yield* Scope.close(scope, Exit.void);
        expect(performance.now() - closing).toBeLessThan(bound + slack);
      }),
    );
  });
});
