import { whyNoPostgresDatabase } from "@accountlink/test-servers";
import { describe, expect, layer as withLayer } from "@effect/vitest";
import { Effect } from "effect";
import { cases, layerFull, maxReads, readsOf } from "./test_plans.ts";

const missing = await whyNoPostgresDatabase();

describe.skipIf(missing !== null)(`a million links ${missing ?? "on Postgres"}`, () => {
  withLayer(layerFull(1_000), { excludeTestServices: true, timeout: "2 minutes" })(
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
