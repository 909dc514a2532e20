import { GameId, LinkStore } from "@accountlink/core";
import { maxChatsOfGame } from "@accountlink/core/links";
import { isProof, whyNoPostgresDatabase } from "@accountlink/test-servers";
import { describe, expect, layer as withLayer } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { cases, modes } from "./test_plan_operations.ts";
import { pid, sightingsOfStrangers } from "./test_plan_rows.ts";
import { layerFull, maxReads, readsOf } from "./test_plans.ts";
import { Database } from "./test_postgres.ts";

const missing = await whyNoPostgresDatabase();

/** Number of scopes; each has a thousand links. */
const scopes = isProof ? 1_000 : 45;

/** Tables that are nearly always empty, whose page is read faster than their index. */
const isScanned = new Set<unknown>(["block_removals", "erasures"]);

describe.skipIf(missing !== null)(`${scopes},000 links ${missing ?? "on Postgres"}`, () => {
  withLayer(layerFull(scopes), { excludeTestServices: true })("with every key and scope", (it) => {
    it.effect.each(cases)("links are not fully scanned by $name ($mode)", ({ mode, operation }) =>
      Effect.gen(function* () {
        const tables = yield* readsOf(mode, operation);
        const scanned = tables.filter(({ name, scans }) => scans > 0 && !isScanned.has(name));
        expect(scanned).toEqual([]);
        const read = tables.reduce((sum, table) => sum + table.read, 0);
        expect(read).toBeGreaterThan(0);
        expect(read).toBeLessThan(maxReads);
      }),
    );

    it.effect.each(modes)("links of one game user are read only up to the limit (%s)", (mode) =>
      Effect.gen(function* () {
        const { query } = yield* Database;
        const gameId = mode === "force_custom_plan" ? "1" : "2";
        yield* query(`INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at)
          SELECT '${pid}', ${gameId} || lpad(i::text, 9, '0'), '${gameId}', 1, i, i
          FROM generate_series(1, 20000) AS i;
          -- Otherwise the reads of this statement may be counted with the reads of the lookup.
          SELECT pg_stat_force_next_flush()`);
        for (const gameIds of [[gameId], [gameId, "3"]]) {
          const found = LinkStore.use((links) =>
            links.findByGameIds(
              pid,
              gameIds.map((id) => GameId.make(id)),
            ),
          );
          const read = (yield* readsOf(mode, found)).reduce((sum, table) => sum + table.read, 0);
          expect(read).toBeGreaterThanOrEqual(maxChatsOfGame);
          expect(read).toBeLessThan(maxChatsOfGame + maxReads);
        }
      }),
    );

    // After a VACUUM and before the next ANALYZE, Postgres knows the size of a table, but has no statistics of its
    // values. A connection keeps a plan that Postgres makes at this time. So even this plan must not scan the table.
    it.effect.each(cases.filter(({ name }) => name.startsWith("findShared")))(
      "links are not fully scanned by $name ($mode) while Postgres has no statistics",
      ({ mode, operation }) =>
        Effect.gen(function* () {
          const { query } = yield* Database;
          yield* query(sightingsOfStrangers);
          yield* query("VACUUM sightings");
          yield* query("DELETE FROM pg_statistic WHERE starelid = 'sightings'::regclass");
          const pages = (yield* readsOf(mode, operation)).reduce((sum, table) => sum + table.pages, 0);
          expect(pages).toBeGreaterThan(0);
          expect(pages).toBeLessThan(250);
        }),
    );
  });
});
