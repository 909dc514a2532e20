/** The sizes that `docs/scaling.md` tells to plan with, measured after writes of links as requests make them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ChatId, GameId, KeyId, LinkStore } from "@accountlink/core";
import { whyNoPostgresDatabase } from "@accountlink/test-servers";
import { describe, expect, testWith } from "@accountlink/test-servers/effect";
import { Effect, Layer } from "effect";
import { SqlClient } from "effect/sql";
import { migrate } from "./migrations.ts";
import { testOnDatabase } from "./postgres/test_postgres.ts";
import { layerSqlite } from "./sqlite/client/sql_client.ts";
import { layer as stores } from "./stores.ts";
import { scope, storeScope } from "./test_scope.ts";

const { pid } = scope;
const count = 3_000;

/** An ID of a platform, in a mixed order. */
const idOf = (base: bigint, index: number): string =>
  String(base + ((BigInt(index) * 2_654_435_761n) % 1_000_000_007n) * 1_000_003n);

/** Writes links, and returns how many bytes each took in tables and indexes whose sizes `sizeOf` reads. */
const bytesOfEach = <E, R>(sizeOf: (table: string) => Effect.Effect<number, E, R>) =>
  Effect.gen(function* () {
    const links = yield* LinkStore;
    yield* storeScope;
    const write = (index: number) =>
      links.setGame({
        actor: { type: "key", id: KeyId.make("IqvqUdpFcaFu") },
        requestId: `req_01M7X9Q2V0H7B7P1C9W3K${String(index).padStart(5, "0")}`,
        pid,
        chatId: ChatId.make(idOf(200_000_000_000_000_000n, index)),
        gameId: GameId.make(idOf(1_000_000_000n, index).slice(0, 10)),
        at: 1_790_000_000_000 + index,
      });
    const sizes = Effect.all({ link: sizeOf("links"), entry: sizeOf("journal") });
    yield* Effect.forEach(Array(count).keys(), write, { discard: true });
    const first = yield* sizes;
    yield* Effect.forEach(Array(count).keys(), (index) => write(count + index), { discard: true });
    const last = yield* sizes;
    return { link: (last.link - first.link) / count, entry: (last.entry - first.entry) / count };
  });

const text = readFileSync(join(import.meta.dirname, "../../docs/scaling.md"), "utf8");

/** The two numbers of a row: on Postgres and embedded. */
const told = (row: string): ReadonlyArray<number> =>
  [...(text.split("\n").find((line) => line.startsWith(`| ${row}`)) ?? "").matchAll(/(\d+) bytes/g)].map(
    ([, bytes]) => Number(bytes),
  );

const expectTold = (index: 0 | 1, found: { readonly link: number; readonly entry: number }) => {
  const ratios = [
    found.link / (told("a link, with its indexes")[index] ?? 0),
    found.entry / (told("an audit entry")[index] ?? 0),
  ];
  for (const ratio of ratios) expect([ratio > 0.85, ratio < 1.15, found]).toEqual([true, true, found]);
};

const missing = await whyNoPostgresDatabase();

describe.skipIf(missing !== null)(`sizes ${missing ?? "on Postgres"}`, () => {
  testOnDatabase()("a link and an audit entry take what docs/scaling.md tells", function* () {
    yield* migrate;
    const sql = yield* SqlClient.SqlClient;
    const sizeOf = (table: string) =>
      Effect.map(
        sql<{ readonly size: number }>`SELECT pg_total_relation_size(${table}::regclass)::int AS size`,
        ([row]) => row?.size ?? 0,
      );
    expectTold(0, yield* Effect.provide(bytesOfEach(sizeOf), stores));
  });
});

testWith(Layer.fresh(layerSqlite({ filename: ":memory:" })))(
  "embedded, a link and an audit entry take what docs/scaling.md tells",
  function* () {
    yield* migrate;
    const sql = yield* SqlClient.SqlClient;
    const sizeOf = (table: string) =>
      Effect.map(
        sql<{ readonly size: number }>`
          SELECT SUM(pgsize) AS size FROM dbstat
          WHERE name IN (SELECT name FROM sqlite_schema WHERE tbl_name = ${table})`,
        ([row]) => row?.size ?? 0,
      );
    expectTold(1, yield* Effect.provide(bytesOfEach(sizeOf), stores));
  },
);
