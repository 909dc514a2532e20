import { GameId, LinkStore } from "@accountlink/core";
import { maxChatsOfGame } from "@accountlink/core/links";
import { isProof, whyNoPostgresDatabase } from "@accountlink/test-servers";
import { describe, expect, layer as withLayer } from "@accountlink/test-servers/effect";
import { Array as Arr, Effect } from "effect";
import { withoutSample } from "../test_costs.ts";
import { unshared } from "../test_strangers.ts";
import {
  layerFull,
  maxReads,
  maxReadsOfSubject,
  modes,
  operations,
  operationsOfSubject,
  pid,
  type Reads,
  readsOf,
  sightingsOfStrangers,
} from "./test_plans.ts";
import { Database } from "./test_postgres.ts";

const missing = await whyNoPostgresDatabase();

/** Number of scopes; each has hundreds of records of every kind. Only the proof makes so many. */
const scopes = 100;

/** Tables that are nearly always empty, whose page is read faster than their index. */
const isScanned = (table: string) => table === "erasures" || unshared.test(table);

const faultsOf = (reads: ReadonlyArray<Reads>, most: number): ReadonlyArray<string> => [
  ...reads.flatMap(({ name, tables, read }) => {
    const scanned = tables.filter(({ table, scans }) => scans > 0 && !isScanned(table));
    return scanned.length === 0 && read < most
      ? []
      : [`${name}: ${read} rows, scans of ${scanned.map(({ table }) => table).join(" ")}`];
  }),
  // An operation whose record is not there tells nothing of its plan.
  ...Object.entries(Arr.groupBy(reads, ({ name }) => name)).flatMap(([name, runs]) =>
    runs.some(({ read }) => read > 0) || withoutSample.has(name) ? [] : [`${name}: no row found`],
  ),
];

describe.skipIf(missing !== null || !isProof)(`${scopes} scopes ${missing ?? "on Postgres"}`, () => {
  withLayer(layerFull(scopes), { excludeTestServices: true })("with every kind of record", (it) => {
    it.effect.each(modes)("no operation scans a table, or the records of a scope (%s)", (mode) =>
      Effect.gen(function* () {
        // A custom plan knows that a scope has few records here, and may read them all.
        const most = mode === "force_generic_plan" ? maxReads : maxReadsOfSubject;
        const faults = faultsOf(yield* readsOf(mode, operations), most);
        // Last, since they take away what others find.
        const ofSubject = faultsOf(yield* readsOf(mode, operationsOfSubject), maxReadsOfSubject);
        expect([...faults, ...ofSubject]).toEqual([]);
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
          const ids = gameIds.map((id) => GameId.make(id));
          const run = LinkStore.use((links) => links.findByGameIds(pid, ids));
          const [{ read } = { read: 0 }] = yield* readsOf(mode, [{ name: "findByGameIds", run }]);
          expect(read).toBeGreaterThanOrEqual(maxChatsOfGame);
          expect(read).toBeLessThan(maxChatsOfGame + maxReads);
        }
      }),
    );

    // After a VACUUM and before the next ANALYZE, Postgres knows the size of a table, but has no statistics of its
    // values. A connection keeps a plan that Postgres makes at this time. So even this plan must not scan the table.
    it.effect.each(modes)("an address is not fully scanned while Postgres has no statistics (%s)", (mode) =>
      Effect.gen(function* () {
        const { query } = yield* Database;
        yield* query(sightingsOfStrangers);
        yield* query("VACUUM sightings");
        yield* query("DELETE FROM pg_statistic WHERE starelid = 'sightings'::regclass");
        const shared = operations.filter(({ name }) => name === "findShared");
        const [{ tables } = { tables: [] }] = yield* readsOf(mode, shared);
        const pages = tables.reduce((sum, table) => sum + table.pages, 0);
        expect(pages).toBeGreaterThan(0);
        expect(pages).toBeLessThan(250);
      }),
    );
  });
});
