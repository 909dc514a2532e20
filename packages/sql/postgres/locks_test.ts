/** Tests what writes on Postgres lock, and in which order. */
import { KeyId } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { recordTypes } from "@accountlink/core/storage";
import { WebhookStore } from "@accountlink/core/webhooks";
import { whyNoPostgresDatabase } from "@accountlink/test-servers";
import { describe, expect } from "@accountlink/test-servers/effect";
import { makeKey, makeWebhook } from "@accountlink/testing";
import { PgClient } from "@effect/sql-pg";
import { Effect, Layer } from "effect";
import { Reactivity } from "effect/reactivity";
import { SqlClient, type SqlConnection } from "effect/sql";
import { withTx } from "../records.ts";
import { layer as stores } from "../stores.ts";
import { origin, scope, testOnStores } from "./test_postgres.ts";

const missing = await whyNoPostgresDatabase();

const key = makeKey(scope, { id: KeyId.make("Aa0Bb1Cc2Dd3") });
const webhook = makeWebhook(scope);

/** A client whose transactions run `meanwhile` on another connection after each statement that locks rows. */
const actingAfterLocks = (meanwhile: Effect.Effect<unknown>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient;
    const hooked = (connection: SqlConnection.Connection): SqlConnection.Connection => ({
      ...connection,
      execute: (text, ...rest) =>
        Effect.tap(connection.execute(text, ...rest), () =>
          text.includes("FOR UPDATE") ? meanwhile : Effect.void,
        ),
    });
    return yield* SqlClient.make({
      driver: "pg",
      compiler: PgClient.makeCompiler(),
      spanAttributes: [],
      acquirer: sql.reserve,
      transactionAcquirer: Effect.map(sql.reserve, hooked),
    });
  }).pipe(Layer.effect(SqlClient.SqlClient), Layer.provide(Reactivity.layer));

const inserts = Effect.gen(function* () {
  const [keys, webhooks] = [yield* KeyStore, yield* WebhookStore];
  return {
    key: keys.insertKey({ ...origin, key, hash: "hash", maxKeys: null, at: 1 }),
    webhook: webhooks.insert({ ...origin, webhook, sealed: "sealed", position: 0, maxOfScope: 9 }),
  };
});

const writes = Effect.gen(function* () {
  const [keys, webhooks] = [yield* KeyStore, yield* WebhookStore];
  return {
    key: keys.rotateKey({ ...origin, id: key.id, hash: "other", at: 2, previousUntil: 3 }),
    webhook: webhooks.update({ ...origin, id: webhook.id, change: { description: "new" }, at: 2 }),
  };
});

describe.skipIf(missing !== null)(`locked reads ${missing ?? "on Postgres"}`, () => {
  testOnStores().each(["key", "webhook"] as const)(
    "a write changes no %s that was inserted after the lock was tried",
    (name) =>
      Effect.gen(function* () {
        const insert = Effect.ignore((yield* inserts)[name]);
        const racing = Layer.provide(stores, actingAfterLocks(insert));
        const isChanged = yield* Effect.flatMap(writes, (all) => all[name]).pipe(
          Effect.provide(racing, { local: true }),
        );
        expect(isChanged).toBe(false);
        expect(yield* Effect.flatMap(writes, (all) => all[name])).toBe(true);
      }),
  );

  const ofScope = recordTypes.find(({ name }) => name === "new_links");
  testOnStores().each(["get", "getAll"] as const)(
    "%s of a write locks the scope before a record of it, as the deletion of the scope does",
    (name) =>
      Effect.gen(function* () {
        if (ofScope === undefined) return expect.unreachable();
        const { pid } = scope;
        const sql = yield* SqlClient.SqlClient;
        const deletions: Array<string> = [];
        const lock = sql`SELECT pid FROM scopes WHERE pid = ${pid} FOR UPDATE NOWAIT`;
        const begin = Effect.match(lock, {
          onFailure: ({ reason }) => deletions.push(reason._tag),
          onSuccess: () => deletions.push("locked the scope"),
        });
        yield* Effect.gen(function* () {
          const racing = yield* SqlClient.SqlClient;
          const place = [pid, "100001"] as const;
          const read = withTx(
            racing,
            (tx) => (name === "get" ? tx.get(ofScope, ...place) : tx.getAll(ofScope, [place])),
            true,
          );
          yield* racing.withTransaction(read);
        }).pipe(Effect.provide(actingAfterLocks(begin), { local: true }));
        expect(deletions).toEqual(["LockTimeoutError"]);
      }),
  );
});
