import { join } from "node:path";
import { ChatId, GameId, LinkStore } from "@accountlink/core";
import { dayMs } from "@accountlink/core/timestamp";
import { testWith } from "@accountlink/test-servers/effect";
import { Effect, Exit, Layer } from "effect";
import { SqlClient } from "effect/sql";
import { expect } from "vitest";
import { migrate } from "../migrations.ts";
import { layerSqlite } from "../sqlite/client/sql_client.ts";
import { makeTempFolder } from "../sqlite/test_folder.ts";
import { origin, scope, Tampering, test } from "../sqlite/test_tampering.ts";
import { storesObserved } from "../test_observed.ts";

const { pid } = scope;
const chatId = ChatId.make("10001");
const gameId = GameId.make("1");
const write = { ...origin, pid, chatId, at: 1 };

test("the lookup of a link with invalid numbers fails", function* () {
  const { tamper } = yield* Tampering;
  const links = yield* LinkStore;
  yield* links.setGame({ ...write, gameId });
  tamper("UPDATE links SET linked_at = 9007199254740993");
  const exit = yield* Effect.exit(links.findByChatId(pid, chatId));
  expect(Exit.hasDies(exit)).toBe(true);
});

test("the process serves others before it answers a page of an export", function* () {
  const { exportPage, setGame } = yield* LinkStore;
  yield* setGame({ ...write, gameId });
  for (let page = 1; page <= 3; page++) {
    let others = 0;
    setImmediate(() => others++);
    yield* exportPage(pid, null, 10);
    expect(others).toBe(1);
  }
});

test("every link is counted once, even if many links have the same verification time", function* () {
  const { tamper } = yield* Tampering;
  const links = yield* LinkStore;
  // Each of the first 50,000 links has its own time; all others share one.
  tamper(`
          INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at)
          WITH RECURSIVE numbers (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM numbers WHERE i < 89999)
          SELECT '${pid}', CAST(100000 + i AS TEXT), '1', 1, 0, min(i, 50000) FROM numbers`);
  tamper("UPDATE links SET game_id = NULL WHERE chat_id IN ('100001', '150001')");
  const countOf = (from: number, before: number) => links.countLinks(pid, { verified: { from, before } });
  expect(yield* links.countLinks(pid)).toBe(89_998);
  expect(yield* links.countLinks(pid, { enough: 70_000 })).toBe(70_000);
  expect(yield* countOf(0, dayMs)).toBe(89_998);
  expect(yield* countOf(0, 50_000)).toBe(49_999);
  expect(yield* countOf(50_000, dayMs)).toBe(39_999);
  expect(yield* countOf(40_000, 50_001)).toBe(49_999);
  expect(yield* countOf(20_000, 40_000)).toBe(20_000);
  expect(yield* countOf(dayMs, 2 * dayMs)).toBe(0);
  expect(yield* links.countWays(pid, 50_000)).toEqual([{ proof: null, links: 89_998, recent: 39_999 }]);
});

const onFile = Layer.unwrap(
  Effect.map(makeTempFolder, (folder) => layerSqlite({ filename: join(folder, "ways.db") })),
);

/** Makes links, each with a time of its own. @param proof SQL of the proof of link `i` */
const makeLinks = Effect.fnUntraced(function* (count: number, proof: string) {
  yield* migrate;
  const sql = yield* SqlClient.SqlClient;
  yield* sql`INSERT INTO accounts (name, tier) VALUES ('acme', 'free')`;
  yield* sql`INSERT INTO scopes (pid, account) VALUES (${pid}, 'acme')`;
  yield* sql`
    INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at, proof)
    WITH RECURSIVE numbers (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${count - 1})
    SELECT ${pid}, CAST(100000 + i AS TEXT), '1', 1, i, i, ${sql.literal(proof)} FROM numbers`;
  return sql;
});

testWith(onFile)(
  "the ways of links are counted in the database, not row by row in the process",
  function* () {
    yield* makeLinks(60_000, "CASE WHEN i % 3 = 0 THEN 'import' ELSE 'hand' END");
    const answers: Array<number> = [];
    const counted = LinkStore.use((links) => links.countWays(pid, 30_000)).pipe(
      Effect.provide(storesObserved((_, rows) => answers.push(rows))),
    );
    expect(new Set(yield* counted)).toEqual(
      new Set([
        { proof: "import", links: 20_000, recent: 10_000 },
        { proof: "hand", links: 40_000, recent: 20_000 },
      ]),
    );
    // A row for each 10,000 links, and one that says that there are no more.
    expect(answers).toEqual(Array(7).fill(1));
  },
);

testWith(onFile)(
  "links of one time are counted by their time, not by a look through all links of the scope",
  function* () {
    const sql = yield* makeLinks(30_000, "NULL");
    const statements = new Set<string>();
    const verified = { from: 0, before: dayMs };
    const counted = LinkStore.use((links) => links.countLinks(pid, { verified })).pipe(
      Effect.provide(storesObserved((text) => statements.add(text))),
    );
    expect(yield* counted).toBe(30_000);
    const ofTime = [...statements].find((text) => text.includes("last_verified_at = ?")) ?? "";
    const plan = yield* sql.unsafe<{ readonly detail: string }>(
      `EXPLAIN QUERY PLAN ${ofTime}`,
      Array(ofTime.split("?").length - 1).fill(""),
    );
    const times = "links_by_verification (pid=? AND last_verified_at=? AND chat_id>?)";
    expect(plan.map(({ detail }) => detail)).toContain(`SEARCH links USING INDEX ${times}`);
  },
);
