import { readFileSync } from "node:fs";
import { LinkStore, Pid } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { whyNoPostgresDatabase } from "@accountlink/test-servers";
import { describe, expect } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { migrate } from "../migrations.ts";
import { layer as stores } from "../stores.ts";
import { testOnDatabase } from "./test_postgres.ts";

const missing = await whyNoPostgresDatabase();

const pid = Pid.make("pid_0123456789abcdef");

/** The documented command, which is broken over two lines. */
const [, reindex = ""] =
  /`(REINDEX INDEX [^`]+)`/.exec(
    readFileSync(new URL("../../../docs/scaling.md", import.meta.url), "utf8"),
  ) ?? [];

describe.skipIf(missing !== null)(`the index of the newest links ${missing ?? "on Postgres"}`, () => {
  testOnDatabase()("it grows with confirmations, and the documented command makes it small", function* () {
    yield* migrate;
    const sql = yield* SqlClient.SqlClient;
    const sizeOf = Effect.map(
      sql<{ readonly pages: number }>`
        SELECT (pg_relation_size('links_by_verification') / 8192)::int AS pages`,
      ([row]) => row?.pages ?? 0,
    );
    yield* Effect.gen(function* () {
      const [keys, links] = [yield* KeyStore, yield* LinkStore];
      yield* keys.ensureAccount({ name: "acme", chatId: null, tier: "free" });
      yield* keys.ensureScope("acme", { kind: "global" }, pid);
      yield* sql`
        INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at)
        SELECT ${pid}, (100000 + i)::text, i::text, 1, i, i FROM generate_series(1, 5000) AS i`;
      yield* sql.unsafe("REINDEX INDEX links_by_verification");
      const before = yield* sizeOf;
      for (let time = 1; time <= 4; time++) {
        yield* sql`UPDATE links SET last_verified_at = last_verified_at + ${10_000 * time}`;
      }
      expect(yield* sizeOf).toBeGreaterThan(2 * before);
      yield* sql.unsafe(reindex);
      expect(yield* sizeOf).toBeLessThan(1.2 * before);
      const newest = yield* links.newestPage(pid, null, 2);
      expect(newest.map(({ chatId }) => chatId)).toEqual(["105000", "104999"]);
    }).pipe(Effect.provide(stores));
  });
});
