/** The count ledger in SQL. */
import {
  CountLedger,
  type LedgerCount,
  type LedgerWindow,
  type Millis,
  type NodeCount,
} from "@accountlink/core";
import { Effect, Layer, Schema } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "./internal/dialect.ts";
import { operation } from "./internal/operation.ts";
import { schemaReaderOf } from "./internal/row.ts";

/** The ledger on the database of the client, whose schema has been migrated. */
export const layer: Layer.Layer<CountLedger, never, SqlClient.SqlClient> = Layer.effect(
  CountLedger,
  Effect.map(SqlClient.SqlClient, (sql) =>
    CountLedger.of({ ...nodeOperations(sql), ...countOperations(sql) }),
  ),
);

type Operations<Names extends keyof CountLedger["Service"]> = Pick<CountLedger["Service"], Names>;

const nodeOperations = (sql: SqlClient.SqlClient): Operations<"renewNode"> => ({
  renewNode: (nodeId, until, now) =>
    Effect.gen(function* () {
      yield* sql`
        INSERT INTO nodes (id, lives_until) VALUES (${nodeId}, ${until})
        ON CONFLICT (id) DO UPDATE SET lives_until = excluded.lives_until`;
      yield* sql`DELETE FROM nodes WHERE lives_until <= ${now}`;
      const [count = 0] = yield* Effect.flatMap(sql`SELECT COUNT(*) AS count FROM nodes`, readNodeCounts);
      return count;
    }).pipe(sql.withTransaction, operation("CountLedger.renewNode", nodeId)),
});

const countOperations = (sql: SqlClient.SqlClient): Operations<"saveCounts" | "loadCounts"> => {
  const { elements, firstRows } = dialectOf(sql);

  /** Writes `counts`, a JSON array of `[endsAt, key, counted, own]` that names no window twice. */
  const save = (nodeId: string, counts: string) => sql`
    INSERT INTO node_counts (ends_at, counter, node_id, counted, own)
    SELECT CAST(value ->> 0 AS BIGINT), value ->> 1, ${nodeId}, CAST(value ->> 2 AS BIGINT), CAST(value ->> 3 AS BIGINT)
    FROM ${elements(counts)} WHERE true
    ON CONFLICT (ends_at, counter, node_id) DO UPDATE SET
      counted = CASE WHEN excluded.counted > node_counts.counted THEN excluded.counted ELSE node_counts.counted END,
      own = CASE WHEN excluded.own > node_counts.own THEN excluded.own ELSE node_counts.own END`;

  const forget = (now: Millis, atMost: number) => sql`
    DELETE FROM node_counts ${firstRows({
      table: "node_counts",
      primaryKey: ["ends_at", "counter", "node_id"],
      order: "ends_at, counter, node_id",
      condition: sql`ends_at <= ${now}`,
      atMost,
    })}`;

  const load = (nodeId: string, windows: ReadonlyArray<LedgerWindow>) => sql`
    SELECT ends_at, counter, MAX(counted) AS counted,
      CAST(SUM(CASE WHEN node_id = ${nodeId} THEN 0 ELSE own END) AS BIGINT) AS others
    FROM ${elements(JSON.stringify(windows.map(({ endsAt, key }) => [endsAt, key])))}
    JOIN node_counts ON ends_at = CAST(value ->> 0 AS BIGINT) AND counter = value ->> 1
    GROUP BY ends_at, counter`;

  return {
    saveCounts: (nodeId, counts, now) =>
      Effect.andThen(save(nodeId, rowsOf(counts)), forget(now, counts.length + forgottenAtMost)).pipe(
        Effect.asVoid,
        sql.withTransaction,
        operation("CountLedger.saveCounts", nodeId, ...counts.map(({ key }) => key)),
      ),

    loadCounts: (nodeId, windows) =>
      load(nodeId, windows).pipe(
        Effect.flatMap(readCounts),
        Effect.map((counts) => {
          const byName = new Map(counts.map(({ name, count }) => [name, count]));
          return windows.map(({ endsAt, key }) => byName.get(nameOf(endsAt, key)) ?? nothing);
        }),
        operation("CountLedger.loadCounts", nodeId, ...windows.map(({ key }) => key)),
      ),
  };
};

/** How many rows a save deletes beyond those that it may have added: a day's end is spread over many. */
const forgottenAtMost = 1_000;

/** In one order, so that no two saves wait for each other. */
const rowsOf = (counts: ReadonlyArray<NodeCount>): string =>
  JSON.stringify(
    counts
      .toSorted((one, other) => one.endsAt - other.endsAt || (one.key < other.key ? -1 : 1))
      .map(({ endsAt, key, counted, own }) => [endsAt, key, counted, own]),
  );

const nothing: LedgerCount = { counted: 0, others: 0 };

const nameOf = (endsAt: number, key: string): string => `${endsAt} ${key}`;

const readNodeCounts = schemaReaderOf("nodes", Schema.Struct({ count: Schema.Int }), ({ count }) => count);

const readCounts = schemaReaderOf(
  "node_counts",
  Schema.Struct({
    ends_at: Schema.Int,
    counter: Schema.String,
    counted: Schema.Int,
    others: Schema.Int,
  }),
  ({ ends_at, counter, counted, others }) => ({ name: nameOf(ends_at, counter), count: { counted, others } }),
);
