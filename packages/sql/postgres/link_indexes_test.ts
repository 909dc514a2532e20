import { readFileSync } from "node:fs";
import { LinkStore } from "@accountlink/core";
import { whyNoPostgresDatabase } from "@accountlink/test-servers";
import { describe, expect } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { scope, testOnStores } from "./test_postgres.ts";

const missing = await whyNoPostgresDatabase();

/** The documented command, which is broken over two lines. */
const [, reindex = ""] =
  /`(REINDEX INDEX [^`]+)`/.exec(
    readFileSync(new URL("../../../docs/scaling.md", import.meta.url), "utf8"),
  ) ?? [];

describe.skipIf(missing !== null)(`the index of the newest links ${missing ?? "on Postgres"}`, () => {
  testOnStores()("it grows with confirmations, and the documented command makes it small", function* () {
    const sql = yield* SqlClient.SqlClient;
    const sizeOf = Effect.map(
      sql<{ readonly pages: number }>`
        SELECT (pg_relation_size('links_by_verification') / 8192)::int AS pages`,
      ([row]) => row?.pages ?? 0,
    );
    const links = yield* LinkStore;
    yield* sql`
      INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at)
      SELECT ${scope.pid}, (100000 + i)::text, i::text, 1, i, i FROM generate_series(1, 5000) AS i`;
    yield* sql.unsafe("REINDEX INDEX links_by_verification");
    const before = yield* sizeOf;
    for (let time = 1; time <= 4; time++) {
      yield* sql`UPDATE links SET last_verified_at = last_verified_at + ${10_000 * time}`;
    }
    expect(yield* sizeOf).toBeGreaterThan(2 * before);
    yield* sql.unsafe(reindex);
    expect(yield* sizeOf).toBeLessThan(1.2 * before);
    const newest = yield* links.newestPage(scope.pid, null, 2);
    expect(newest.map(({ chatId }) => chatId)).toEqual(["105000", "104999"]);
  });
});
