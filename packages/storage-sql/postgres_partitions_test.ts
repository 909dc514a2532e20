/** The stores on a table of links that `deploy/partition_links.sql` has split: nothing else is told of it. */
import { readFileSync } from "node:fs";
import { linkStoreSuite, storagePropertySuite } from "@accountlink/conformance";
import { ChatId, GameId, KeyStore, LinkStore, Pid } from "@accountlink/core";
import { StorageMemory } from "@accountlink/storage-memory";
import { makePostgresDatabase, whyNoPostgresDatabase } from "@accountlink/test-servers";
import { describe, expect, it, layer as withLayer } from "@effect/vitest";
import { Effect, Layer, Redacted } from "effect";
import * as test from "vitest";
import { cases, layerFull, mostRead, readBy } from "./internal/test_plans.ts";
import { generous } from "./internal/test_postgres.ts";
import { layerPostgres, migratePostgres } from "./postgres.ts";

const missing = await whyNoPostgresDatabase();

const byScope = readFileSync(new URL("../../deploy/partition_links.sql", import.meta.url), "utf8");
/** For a scope that is itself too large for one part. */
const byRecord = byScope.replace("HASH (pid)", "HASH (pid, chat_id)");

const definitions = `
  SELECT column_name AS name, concat_ws(' ', data_type, collation_name, column_default, is_nullable) AS is
  FROM information_schema.columns WHERE table_name = 'links'
  UNION ALL SELECT indexname, replace(indexdef, ' ONLY', '') FROM pg_indexes WHERE tablename = 'links'
  UNION ALL SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE conrelid = 'links'::regclass AND contype IN ('p', 'f', 'c')
  ORDER BY 1, 2`;

const makeDatabase = Effect.gen(function* () {
  const { url, query } = yield* makePostgresDatabase();
  const options = { url: Redacted.make(url), ...generous };
  yield* migratePostgres(options);
  return { query, options };
});

const layerSplit = (script: string) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { query, options } = yield* makeDatabase;
      yield* query(script);
      return layerPostgres(options);
    }),
  );

describe.skipIf(missing !== null)(`links in parts ${missing ?? "on Postgres"}`, () => {
  const split = { name: "Parts by scope", layer: layerSplit(byScope), test };
  linkStoreSuite(split);
  linkStoreSuite({ name: "Parts by record", layer: layerSplit(byRecord), test });
  storagePropertySuite({ ...split, model: StorageMemory.layer });

  it.live("are a table with the columns, keys and indexes of before", () =>
    Effect.gen(function* () {
      const { query } = yield* makeDatabase;
      const before = yield* query(definitions);
      yield* query(byScope);
      expect(yield* query(definitions)).toEqual(before);
      expect(before.length).toBeGreaterThan(8);
    }),
  );

  it.live("are the links of before, and those of a scope are in one part", () =>
    Effect.gen(function* () {
      const { query, options } = yield* makeDatabase;
      const pids = Array.from({ length: 40 }, (_, i) => Pid.make(`pid_${`${i}`.padStart(16, "0")}`));
      const origin = { actor: { type: "operator", id: "test" }, requestId: null } as const;
      const chatIds = ["10001", "10002"].map((id) => ChatId.make(id));
      yield* Effect.gen(function* () {
        const [keys, links] = [yield* KeyStore, yield* LinkStore];
        yield* keys.ensureAccount({ name: "acme", chatId: null, tier: "free" });
        for (const [i, pid] of pids.entries()) {
          yield* keys.ensureScope("acme", { kind: "guild", guildId: `${70_000 + i}` as never }, pid);
          for (const chatId of chatIds) {
            yield* links.setGame({ ...origin, pid, chatId, gameId: GameId.make(`${i + 1}`), at: i });
          }
        }
      }).pipe(Effect.provide(layerPostgres(options), { local: true }));
      const before = yield* query("SELECT * FROM links ORDER BY pid, chat_id");

      yield* query(byScope);

      expect(yield* query("SELECT * FROM links ORDER BY pid, chat_id")).toEqual(before);
      expect(before).toHaveLength(pids.length * chatIds.length);
      const places = yield* query(
        "SELECT pid, count(DISTINCT tableoid)::int AS parts FROM links GROUP BY pid ORDER BY pid",
      );
      expect(places).toEqual(pids.map((pid) => ({ pid, parts: 1 })));
    }),
  );

  withLayer(layerFull(200, byScope), { excludeTestServices: true, timeout: "2 minutes" })(
    "with 200,000 of them",
    (on) => {
      on.effect.each(cases)("are no burden on $name ($mode)", ({ mode, operation }) =>
        Effect.gen(function* () {
          const parts = (yield* readBy(mode, operation)).filter((table) =>
            String(table.name).startsWith("links_"),
          );
          expect(parts).toHaveLength(16);
          expect(parts.filter(({ scans }) => scans > 0)).toEqual([]);
          expect(parts.reduce((sum, part) => sum + part.read, 0)).toBeLessThan(mostRead);
        }),
      );
    },
  );
});
