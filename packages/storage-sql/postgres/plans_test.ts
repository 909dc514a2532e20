import { isProof, whyNoPostgresDatabase } from "@accountlink/test-servers";
import { describe, expect, layer as withLayer } from "@effect/vitest";
import { Effect } from "effect";
import { cases, layerFull, maxReads, readsOf } from "./test_plans.ts";

const missing = await whyNoPostgresDatabase();

/** Scopes with a thousand links each. */
const scopes = isProof ? 1_000 : 110;

describe.skipIf(missing !== null)(`${scopes},000 links ${missing ?? "on Postgres"}`, () => {
  withLayer(layerFull(scopes), { excludeTestServices: true, timeout: "2 minutes" })(
    "with every key and scope",
    (it) => {
      it.effect.each(cases)("are not scanned by $name ($mode)", ({ mode, operation }) =>
        Effect.gen(function* () {
          const tables = yield* readsOf(mode, operation);
          expect(tables.filter(({ scans }) => scans > 0)).toEqual([]);
          const read = tables.reduce((sum, table) => sum + table.read, 0);
          expect(read).toBeGreaterThan(0);
          expect(read).toBeLessThan(maxReads);
        }),
      );
    },
  );
});
