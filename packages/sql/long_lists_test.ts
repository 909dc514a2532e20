/** Work for the whole service reads long lists in parts, between which the process does other work. */
import { CommunityStore } from "@accountlink/core/communities";
import { ImportStore } from "@accountlink/core/imports";
import { heldAtOnce } from "@accountlink/core/records";
import { expect, testWith } from "@accountlink/test-servers/effect";
import { Effect, Layer, Tracer } from "effect";
import { SqlClient } from "effect/sql";
import { migrate } from "./migrations.ts";
import { layerSqlite } from "./sqlite/client/sql_client.ts";
import { layer } from "./stores.ts";
import { addStrangers } from "./test_strangers.ts";

const test = testWith(Layer.fresh(Layer.provideMerge(layer, layerSqlite({ filename: ":memory:" }))));

const count = 2 * heldAtOnce + 100;

/** Runs an effect, and returns how many statements read a table. */
const readsOf = Effect.fnUntraced(function* (table: string, effect: Effect.Effect<unknown, unknown>) {
  const spans: Array<Tracer.NativeSpan> = [];
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options);
      spans.push(span);
      return span;
    },
  });
  yield* Effect.withTracer(effect, tracer);
  return spans.filter(({ attributes }) => String(attributes.get("db.query.text")).includes(`FROM ${table} `))
    .length;
});

test("the communities that remind are read in parts", function* () {
  const [sql, communities] = [yield* SqlClient.SqlClient, yield* CommunityStore];
  yield* migrate;
  yield* addStrangers(1, count, {}, (table) => /^(accounts|scopes|communities)$/.test(table));
  yield* sql`UPDATE communities SET settings = '{"remindAfterDays":4}', home_since = 1, paused_at = NULL`;
  const [{ all } = { all: 0 }] = yield* sql<{
    readonly all: number;
  }>`SELECT COUNT(*) AS "all" FROM communities`;
  expect(yield* communities.reminding()).toHaveLength(all);
  expect(yield* readsOf("communities", communities.reminding())).toBe(Math.floor(all / heldAtOnce) + 1);
});

test("the sweep of imports reads them and their links in parts", function* () {
  const [sql, imports] = [yield* SqlClient.SqlClient, yield* ImportStore];
  yield* migrate;
  yield* addStrangers(1, count, {}, (table) => /^(accounts|scopes|link_imports|import_links)$/.test(table));
  yield* sql`UPDATE link_imports SET ends_at = 9, undo_entry = NULL`;
  yield* sql`UPDATE import_links SET chat_id = '100001', game_id = '1', previous_game_id = NULL`;
  const [{ all } = { all: 0 }] = yield* sql<{
    readonly all: number;
  }>`SELECT COUNT(*) AS "all" FROM link_imports`;
  expect(yield* readsOf("link_imports", imports.sweep(1))).toBe(Math.floor(all / heldAtOnce) + 1);
  expect(yield* readsOf("import_links", imports.sweep(1))).toBeGreaterThan(2);
});
