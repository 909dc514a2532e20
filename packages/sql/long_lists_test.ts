/** Work for the whole service reads long lists in parts, between which the process does other work. */
import { ChatId, GuildId, type Pid } from "@accountlink/core";
import { CommunityStore } from "@accountlink/core/communities";
import { ImportStore } from "@accountlink/core/imports";
import { heldAtOnce } from "@accountlink/core/records";
import { RoleHistoryStore } from "@accountlink/core/roles";
import { UserStore } from "@accountlink/core/users";
import { type WebhookId, WebhookStore } from "@accountlink/core/webhooks";
import { expect, testWith } from "@accountlink/test-servers/effect";
import { Effect, Layer, Tracer } from "effect";
import { SqlClient } from "effect/sql";
import { migrate } from "./migrations.ts";
import { layerSqlite } from "./sqlite/client/sql_client.ts";
import { layer } from "./stores.ts";
import { addStrangers } from "./test_strangers.ts";

const test = testWith(Layer.fresh(Layer.provideMerge(layer, layerSqlite({ filename: ":memory:" }))));

const count = 2 * heldAtOnce + 100;

const statementsOf = Effect.fnUntraced(function* (table: string, effect: Effect.Effect<unknown, unknown>) {
  const spans: Array<Tracer.NativeSpan> = [];
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options);
      spans.push(span);
      return span;
    },
  });
  yield* Effect.withTracer(effect, tracer);
  return spans
    .map(({ attributes }) => String(attributes.get("db.query.text")))
    .filter((text) => text.includes(`FROM ${table} `));
});

const readsOf = (table: string, effect: Effect.Effect<unknown, unknown>) =>
  Effect.map(statementsOf(table, effect), ({ length }) => length);

test("deliveries of one status and changes of one member's role are found without all others", function* () {
  const [sql, webhooks, history] = [yield* SqlClient.SqlClient, yield* WebhookStore, yield* RoleHistoryStore];
  yield* migrate;
  const change = {
    pid: "pid_1" as Pid,
    guildId: GuildId.make("70001"),
    chatId: ChatId.make("100001"),
    because: "link",
  } as const;
  const begin = history.begin({ ...change, changes: [{ roleId: "1", change: "gave" }], at: 1 });
  const page = webhooks.deliveries("wh_1" as WebhookId, { status: "failing", before: null, limit: 9 });
  const texts = [
    ...(yield* statementsOf("role_changes", begin)).filter((text) => text.includes("role_id = ?")),
    ...(yield* statementsOf("webhook_deliveries", page)),
  ];
  const plans = yield* Effect.forEach(texts, (text) =>
    sql.unsafe<{ readonly detail: string }>(
      `EXPLAIN QUERY PLAN ${text}`,
      Array.from(text.matchAll(/\?/g), () => ""),
    ),
  );
  expect(plans.flat().map(({ detail }) => detail)).toEqual([
    "SEARCH role_changes USING INDEX role_changes_by_user (chat_id=? AND pid=? AND guild_id=? AND role_id=?)",
    "SEARCH webhook_deliveries USING INDEX webhook_deliveries_by_status (webhook_id=? AND status=?)",
  ]);
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

test("the messages that name a user are found, however many they are", function* () {
  const [sql, users] = [yield* SqlClient.SqlClient, yield* UserStore];
  yield* migrate;
  const chatId = ChatId.make("100001");
  yield* sql`
    WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers LIMIT 20000)
    INSERT INTO guild_log_users (log_id, message_id, chat_id) SELECT 'pid_1 7', number, ${chatId} FROM numbers`;
  expect((yield* users.find(chatId)).messages).toEqual([]);
});
