import { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { StorageMemory } from "@accountlink/memory";
import { randomRuns } from "@accountlink/test-servers";
import { storageOutageSuite, storageSuites } from "@accountlink/testing/conformance";
import { Effect, Layer } from "effect";
import * as test from "vitest";
import { StorageSql } from "./mod.ts";
import { makeTempFolder } from "./sqlite/test_folder.ts";
import { layerReopening } from "./sqlite/test_reopening.ts";

const layer = Layer.unwrap(Effect.map(makeTempFolder, (folder) => StorageSql.layerEmbedded({ folder })));
const name = "Embedded";

const statements = new Set<string>();
const prepare: DatabaseSync["prepare"] = Reflect.get(DatabaseSync.prototype, "prepare");
DatabaseSync.prototype.prepare = function (text) {
  statements.add(text);
  return prepare.call(this, text);
};
// The statements of bulk transactions are prepared in another thread.
const postMessage: Worker["postMessage"] = Reflect.get(Worker.prototype, "postMessage");
Worker.prototype.postMessage = function (request: { readonly sql: string }) {
  statements.add(request.sql);
  postMessage.call(this, request);
};
test.afterAll(() => {
  DatabaseSync.prototype.prepare = prepare;
  Worker.prototype.postMessage = postMessage;
});

storageSuites({ name, layer, model: StorageMemory.layer, ...randomRuns(1, 120), test });
storageOutageSuite({ name, layer: layerReopening, test });

const small =
  /^(accounts|guild_log_nodes|guild_logs|panels|role_plan_nodes|role_plans|root_key|schema_migrations|storage_place|usage_meters|webhook_nodes|webhooks)$/;

/**
 * Returns the plan of each statement. The database has no statistics, so the plans do not depend on the number of rows.
 */
const plans = Effect.gen(function* () {
  const folder = yield* makeTempFolder;
  yield* StorageSql.migrateEmbedded({ folder });
  const db = new DatabaseSync(StorageSql.databaseFile(folder));
  const isTable = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?");
  const isLarge = (table: string) => isTable.get(table) !== undefined && !small.test(table);
  const found = [...statements]
    .filter((text) => /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)/.test(text))
    // Statements of migrations read tables that no longer exist.
    .filter((text) => !/\b(FROM|JOIN) (events|audit_log|earlier_keys)\b/.test(text))
    .map((text) => ({
      beginning: text.trim().split(/\s+/, 3).join(" "),
      steps: db
        .prepare(`EXPLAIN QUERY PLAN ${text}`)
        .all()
        .map(({ parent, detail }) => {
          const [, way, table = ""] = /^(SCAN|SEARCH) (\w+)/.exec(String(detail)) ?? [];
          const sorts = String(detail).startsWith("USE TEMP B-TREE");
          return { parent, way, table, isLarge: isLarge(table), sorts };
        }),
    }));
  db.close();
  test.expect(statements.size).toBeGreaterThan(300);
  return found;
}).pipe(Effect.scoped);

/** Scans of growing tables that read few rows or run rarely: the table, and how the statement begins. */
const listedScans: ReadonlySet<string> = new Set([
  // What is being put back now, in all communities.
  "role_reversals: SELECT pid, guild_id,",
  "block_removals: SELECT pid, account,",
  "block_removals: UPDATE block_removals SET",
  "blocks: UPDATE blocks SET",
  "communities: SELECT pid, guild_id,",
  "erasures: SELECT chat_id, actor_type,",
  "idempotency_keys: DELETE FROM idempotency_keys",
  "idempotency_keys: UPDATE idempotency_keys SET",
  "imports: DELETE FROM import_parts",
  "imports: DELETE FROM imports",
  "imports: SELECT id, account,",
  "imports: UPDATE imports SET",
  "keys: SELECT id, pid,",
  "keys: UPDATE keys SET",
  // Imports of a day, every minute and in a migration.
  "link_imports: DELETE FROM link_imports",
  "link_imports: SELECT id, pid,",
  "link_imports: UPDATE link_imports SET",
  "members: UPDATE members SET",
  // A migration.
  "role_previews: DELETE FROM role_previews",
  "sightings: SELECT address_key_id AS",
  "sightings: SELECT pid, chat_id,",
  "verification_flows: UPDATE verification_flows SET",
  "verification_sessions: DELETE FROM verification_sessions",
  "verification_sessions: SELECT sid, key_id,",
  "verification_sessions: UPDATE verification_sessions SET",
]);

test.it("no statement scans a growing table, except listed ones that read few rows or run rarely", () =>
  Effect.gen(function* () {
    const scans = (yield* plans).flatMap(({ beginning, steps }) =>
      steps
        // Whether there are removals at all is asked of their first row.
        .filter(({ way, table, isLarge }) => way === "SCAN" && isLarge && table !== "block_removals")
        .map(({ table }) => `${table}: ${beginning}`),
    );
    // Random commands do not reach each of them in every run.
    test.expect(scans.filter((scan) => !listedScans.has(scan))).toEqual([]);
  }).pipe(Effect.runPromise),
);

test.it("no statement on links sorts rows", () =>
  Effect.gen(function* () {
    const sorting = (yield* plans)
      .filter(({ steps }) => steps.some(({ table }) => table === "links"))
      .filter(({ steps }) => steps.some(({ sorts }) => sorts));
    test.expect(sorting.map(({ beginning }) => beginning)).toEqual([]);
  }).pipe(Effect.runPromise),
);

test.it("statements read their input rows once, not once per row of a table", () =>
  Effect.gen(function* () {
    const repeated = (yield* plans).flatMap(({ beginning, steps }) =>
      steps.flatMap(({ parent, table }, index) =>
        table === "json_each"
          ? steps
              .slice(0, index)
              .filter((outer) => outer.parent === parent && outer.table !== "")
              .map((outer) => `${outer.table}: ${beginning}`)
          : [],
      ),
    );
    test.expect(repeated).toEqual([]);
  }).pipe(Effect.runPromise),
);
