import { isProof, whyNoPostgresDatabase } from "@accountlink/test-servers";
import { describe, expect, layer as withLayer } from "@effect/vitest";
import { Effect } from "effect";
import { sightingsOfStrangers } from "./test_alt_plans.ts";
import { cases, layerFull, maxReads, readsOf } from "./test_plans.ts";
import { Database } from "./test_postgres.ts";

const missing = await whyNoPostgresDatabase();

/** Scopes with a thousand links each. */
const scopes = isProof ? 1_000 : 110;

describe.skipIf(missing !== null)(`${scopes},000 links ${missing ?? "on Postgres"}`, () => {
  withLayer(layerFull(scopes), { excludeTestServices: true })("with every key and scope", (it) => {
    it.effect.each(cases)("are not scanned by $name ($mode)", ({ mode, operation }) =>
      Effect.gen(function* () {
        const tables = yield* readsOf(mode, operation);
        expect(tables.filter(({ scans }) => scans > 0)).toEqual([]);
        const read = tables.reduce((sum, table) => sum + table.read, 0);
        expect(read).toBeGreaterThan(0);
        expect(read).toBeLessThan(maxReads);
      }),
    );

    // A connection keeps a plan that was made after a VACUUM and before the ANALYZE that follows.
    it.effect.each(cases.filter(({ name }) => name.startsWith("findShared")))(
      "are not all read by $name ($mode) while Postgres has no statistics",
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
