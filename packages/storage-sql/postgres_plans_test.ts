import { CountLedger } from "@accountlink/core";
import { whyNoPostgresDatabase } from "@accountlink/test-servers";
import { describe, expect, it, layer as withLayer } from "@effect/vitest";
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { cases, layerFull, mostRead, readBy } from "./internal/test_plans.ts";
import { onDatabase } from "./internal/test_postgres.ts";
import { migrate } from "./migrations.ts";
import { layer as stores } from "./stores.ts";

const missing = await whyNoPostgresDatabase();

describe.skipIf(missing !== null)(`a million links ${missing ?? "on Postgres"}`, () => {
  withLayer(layerFull(1_000), { excludeTestServices: true, timeout: "2 minutes" })(
    "with every key and scope",
    (it) => {
      it.effect.each(cases)("are no burden on $name ($mode)", ({ mode, operation }) =>
        Effect.gen(function* () {
          const tables = yield* readBy(mode, operation);
          expect(tables.filter(({ scans }) => scans > 0)).toEqual([]);
          const read = tables.reduce((sum, table) => sum + table.read, 0);
          expect(read).toBeGreaterThan(0);
          expect(read).toBeLessThan(mostRead);
        }),
      );
    },
  );
});

const windowsFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ key: `day:${first + i}`, endsAt: 2_000_000 }));

describe.skipIf(missing !== null)(`a ledger that fills ${missing ?? "on Postgres"}`, () => {
  it.live("is read by its index, as long as Postgres does not know yet that it fills", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient;
      yield* migrate;
      yield* sql`ALTER TABLE node_counts SET (autovacuum_enabled = false)`;
      const ledger = yield* CountLedger;
      const read = (windows: ReturnType<typeof windowsFrom>) =>
        Effect.map(ledger.loadCounts("other node", windows), (counts) =>
          expect(counts).toEqual(windows.map(() => ({ counted: 9, others: 7 }))),
        );
      const exchange = Effect.fnUntraced(function* (first: number, count: number) {
        const windows = windowsFrom(first, count);
        yield* ledger.saveCounts(
          "node",
          windows.map((window) => ({ ...window, counted: 9, own: 7 })),
          1,
        );
        yield* read(windows);
      });
      const rowsScanned = Effect.gen(function* () {
        yield* sql`SELECT pg_stat_force_next_flush()`;
        const [row] = yield* sql<{ read: number }>`
          SELECT seq_tup_read AS read FROM pg_stat_user_tables WHERE relname = 'node_counts'`;
        return row?.read ?? Number.NaN;
      });
      // The plans that a connection keeps are made in its first statements.
      for (let round = 0; round < 10; round++) yield* exchange(round * 100, 100);
      for (let round = 1; round < 10; round++) yield* exchange(round * 1_000, 1_000);
      const before = yield* rowsScanned;
      yield* read(windowsFrom(0, 10));
      expect((yield* rowsScanned) - before).toBeLessThan(mostRead);
    }).pipe(Effect.provide(stores), (test) => onDatabase(test, { maxConnections: 1 })),
  );
});
