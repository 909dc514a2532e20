import { CacheAgreement, CountLedger } from "@accountlink/core";
import { makePostgresDatabase, startPostgres, whyNoPostgres } from "@accountlink/test-servers";
import { assert, describe, it } from "@effect/vitest";
import { Context, Effect, Layer, Redacted, Schedule } from "effect";
import { layerPostgres } from "./postgres.ts";

const missing = await whyNoPostgres();
const minute = 60_000;

const until = <E, R>(condition: Effect.Effect<boolean, E, R>) =>
  Effect.repeat(condition, { until: (holds) => holds, schedule: Schedule.spaced("20 millis") });

/** The stores on a server of their own, whose standby comes and goes. */
const openStores = Effect.gen(function* () {
  const server = yield* startPostgres();
  const { url, query } = yield* makePostgresDatabase(server);
  const open = layerPostgres({ url: Redacted.make(url), statementTimeout: "1 second" });
  const stores = yield* Layer.build(Layer.fresh(open));
  const [agreement, ledger] = [Context.get(stores, CacheAgreement), Context.get(stores, CountLedger)];
  const write = ledger.renewNode("node", minute, 0);
  const findStandby = Effect.andThen(
    query("ALTER SYSTEM RESET synchronous_standby_names"),
    query("SELECT pg_reload_conf()"),
  );
  yield* Effect.addFinalizer(() => findStandby);
  return {
    agreement,
    name: new URL(url).pathname.slice(1),
    query,
    /** Nothing is answered any more that is committed. */
    loseStandby: query("ALTER SYSTEM SET synchronous_standby_names = 'away'").pipe(
      Effect.andThen(query("SELECT pg_reload_conf()")),
      Effect.andThen(until(Effect.map(Effect.exit(write), ({ _tag }) => _tag === "Failure"))),
    ),
    findStandby,
    isWaiting: (condition: string) =>
      Effect.map(
        query(`SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND ${condition}`),
        (rows) => rows.length > 0,
      ),
  };
});

describe.skipIf(missing !== null)(`commits ${missing ?? "on Postgres"}`, () => {
  it.live("that wait for a standby keep the cache closed for as long", () =>
    Effect.gen(function* () {
      const { agreement, loseStandby, findStandby, isWaiting } = yield* openStores;
      const isOpen = Effect.map(agreement.read, (terms) => terms.isOpen);
      yield* agreement.adopt("run", 0);
      assert.isTrue(yield* isOpen);
      yield* loseStandby;
      yield* until(isWaiting("query = 'COMMIT' AND query_start < clock_timestamp() - INTERVAL '1 second'"));
      assert.isFalse(yield* isOpen);
      yield* findStandby;
      yield* until(isOpen);
      assert.isFalse(yield* isWaiting("query = 'COMMIT'"));
    }),
  );

  it.live("that nobody can watch keep it closed", () =>
    Effect.gen(function* () {
      const { agreement, name, query } = yield* openStores;
      yield* agreement.adopt("run", 0);
      assert.isTrue((yield* agreement.read).isOpen);
      yield* query(`ALTER DATABASE ${name} SET track_activities = off`);
      // A connection from before is watched as it was.
      yield* query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()`);
      const { run, isOpen } = yield* Effect.eventually(agreement.read);
      assert.deepStrictEqual([run, isOpen], ["run", false]);
    }),
  );

  it.live("that adopt a run late do not open the cache at once", () =>
    Effect.gen(function* () {
      const { agreement, loseStandby, findStandby, isWaiting } = yield* openStores;
      yield* agreement.adopt("one", 0);
      yield* loseStandby;
      assert.strictEqual((yield* Effect.exit(agreement.adopt("other", 500)))._tag, "Failure");
      assert.strictEqual((yield* agreement.read).run, "one");
      assert.isTrue(yield* isWaiting("query LIKE '%cache_closures%'"));
      yield* findStandby;
      yield* until(Effect.map(agreement.read, ({ run }) => run !== "one"));
      const { run, isOpen } = yield* agreement.read;
      assert.deepStrictEqual([run, isOpen], [null, false]);
      assert.isTrue(yield* agreement.adopt("other", minute));
      const terms = yield* agreement.read;
      assert.deepStrictEqual([terms.run, terms.isOpen], ["other", false]);
      assert.isBelow(terms.adoptedMsAgo, 1_000);
    }),
  );
});
