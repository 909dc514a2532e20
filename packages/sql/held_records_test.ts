import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { WebhookStore } from "@accountlink/core/webhooks";
import { expect, testWith } from "@accountlink/test-servers/effect";
import { Effect, Layer, Tracer } from "effect";
import { SqlClient } from "effect/sql";
import { migrate } from "./migrations.ts";
import { layerSqlite } from "./sqlite/client/sql_client.ts";
import { makeTempFolder } from "./sqlite/test_folder.ts";
import { layer } from "./stores.ts";
import { addStrangers } from "./test_strangers.ts";

const stored = Layer.provideMerge(layer, layerSqlite({ filename: ":memory:" }));
const test = testWith(Layer.fresh(stored));

test("a node looks at the webhooks that it holds in few statements, each of which is about 500 at most", function* () {
  const [sql, webhooks] = [yield* SqlClient.SqlClient, yield* WebhookStore];
  yield* migrate;
  const count = 1_100;
  const isMeant = (table: string) => /^(accounts|scopes|webhooks|webhook_deliveries)$/.test(table);
  yield* addStrangers(1, count, {}, isMeant);
  yield* sql`UPDATE webhooks SET disabled_reason = NULL`;
  yield* sql`UPDATE webhook_deliveries SET status = 'failing', error = 'status', next_attempt_at = 7
    WHERE webhook_id IN (SELECT id FROM webhooks ORDER BY id DESC LIMIT 1)`;
  let statements = 0;
  const tracer = Tracer.make({
    span: (options) => {
      if (options.kind === "client") statements++;
      return new Tracer.NativeSpan(options);
    },
  });
  const look = Effect.withTracer(webhooks.hold({ node: "node", at: 0, until: 7_000, limit: 50 }), tracer);
  const held = yield* look;
  expect(new Set(held.map(({ id }) => id)).size).toBe(count);
  expect(held.map(({ nextAttemptAt }) => nextAttemptAt).filter((time) => time !== null)).toEqual([7]);
  const [{ id }] = held as [(typeof held)[number]];
  yield* sql`UPDATE webhooks SET url = 'https://example.com/changed' WHERE id = ${id}`;
  statements = 0;
  const again = yield* look;
  expect(again.map(({ url }) => url)).toEqual(
    held.map((webhook) => (webhook.id === id ? "https://example.com/changed" : webhook.url)),
  );
  expect(statements).toBeGreaterThan(3);
  expect(statements).toBeLessThan(40);
});

test("a look for free webhooks alone sees what another process has changed in the file", function* () {
  const filename = join(yield* makeTempFolder, "accountlink.db");
  const opened = Layer.fresh(Layer.provideMerge(layer, layerSqlite({ filename })));
  yield* Effect.gen(function* () {
    const [sql, webhooks] = [yield* SqlClient.SqlClient, yield* WebhookStore];
    yield* migrate;
    yield* addStrangers(1, 2, {}, (table) => /^(accounts|scopes|webhooks|webhook_deliveries)$/.test(table));
    yield* sql`UPDATE webhooks SET disabled_reason = NULL`;
    const hold = { node: "node", at: 0, until: 7_000, limit: 50 };
    const known = yield* webhooks.hold(hold);
    const holdAgain = webhooks.hold({ ...hold, at: 1, known });
    yield* holdAgain;
    expect(yield* holdAgain).toBe(known);
    yield* sql`UPDATE webhooks SET url = 'https://example.com/own'`;
    expect(yield* holdAgain).toBe(known);
    const other = new DatabaseSync(filename);
    other.exec("UPDATE webhooks SET url = 'https://example.com/changed'");
    other.close();
    expect((yield* holdAgain).map(({ url }) => url)).toContain("https://example.com/changed");
    expect(yield* holdAgain).toBe(known);
  }).pipe(Effect.provide(opened));
});
