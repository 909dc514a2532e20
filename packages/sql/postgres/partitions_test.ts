/** Tests the stores on a `links` table that `deploy/partition_links.sql` has partitioned. */
import { readFileSync } from "node:fs";
import { ChatId, GameId, LinkStore, Pid } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { StorageMemory } from "@accountlink/memory";
import { isProof, makePostgresDatabase, whyNoPostgresDatabase } from "@accountlink/test-servers";
import { describe, expect, testLive, layer as withLayer } from "@accountlink/test-servers/effect";
import { linkStoreSuite, storagePropertySuite } from "@accountlink/testing/conformance";
import { Effect, Layer, Redacted } from "effect";
import * as test from "vitest";
import { layerPostgres, migratePostgres } from "./postgres.ts";
import { layerFull, maxReads, modes, operations, readsOf } from "./test_plans.ts";
import { generous, origin } from "./test_postgres.ts";

const missing = await whyNoPostgresDatabase();

const byScope = readFileSync(new URL("../../../deploy/partition_links.sql", import.meta.url), "utf8");
/** Distributes the links of a scope over several partitions, for a scope that is too large for one partition. */
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

const layerPartitioned = (script: string) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { query, options } = yield* makeDatabase;
      yield* query(script);
      return layerPostgres(options);
    }),
  );

describe.skipIf(missing !== null)(`partitioned links ${missing ?? "on Postgres"}`, () => {
  const partitioned = { name: "Partitions by scope", layer: layerPartitioned(byScope), test };
  linkStoreSuite(partitioned);
  if (isProof) {
    linkStoreSuite({ name: "Partitions by record", layer: layerPartitioned(byRecord), test });
    storagePropertySuite({ ...partitioned, model: StorageMemory.layer });
  }

  testLive("partitions have the columns, keys and indexes of the original table", function* () {
    const { query } = yield* makeDatabase;
    const before = yield* query(definitions);
    yield* query(byScope);
    expect(yield* query(definitions)).toEqual(before);
    expect(before.length).toBeGreaterThan(8);
  });

  testLive("partitioning keeps all links, and stores each scope in one partition", function* () {
    const { query, options } = yield* makeDatabase;
    const pids = Array.from({ length: 40 }, (_, i) => Pid.make(`pid_${`${i}`.padStart(16, "0")}`));
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
    const counts = yield* query(
      "SELECT pid, count(DISTINCT tableoid)::int AS partitions FROM links GROUP BY pid ORDER BY pid",
    );
    expect(counts).toEqual(pids.map((pid) => ({ pid, partitions: 1 })));
  });

  // Runs only in `npm run proof`, since the partitioning script is optional and rarely changes.
  if (!isProof) return;
  withLayer(layerFull(75, byScope), { excludeTestServices: true })("75 scopes", (on) => {
    on.effect.each(modes)("no operation scans a partition (%s)", (mode) =>
      Effect.gen(function* () {
        const faults = (yield* readsOf(mode, operations)).flatMap(({ name, tables }) => {
          const partitions = tables.filter(({ table }) => table.startsWith("links_"));
          const read = partitions.reduce((sum, table) => sum + table.read, 0);
          const holds =
            partitions.length === 16 && partitions.every(({ scans }) => scans === 0) && read < maxReads;
          return holds ? [] : [`${name}: ${read} rows of ${partitions.length} partitions`];
        });
        expect(faults).toEqual([]);
      }),
    );
  });
});
