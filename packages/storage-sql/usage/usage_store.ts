/** `UsageStore` in SQL. */
import { KeyId } from "@accountlink/core";
import { groupBy } from "@accountlink/core/group_by";
import { type Millis, startOfDay } from "@accountlink/core/timestamp";
import {
  byTimeAndGroup,
  lastUsePrecision,
  type UsageBatch,
  type UsageGroup,
  type UsageOwner,
  type UsagePeriod,
  UsageStore,
} from "@accountlink/core/usage";
import { Effect, Layer, Schema } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { batchSize, inBatches } from "../statements/in_batches.ts";
import { operation } from "../statements/operation.ts";
import { literalsOf, schemaReaderOf } from "../statements/row.ts";

export const layer: Layer.Layer<UsageStore, never, SqlClient.SqlClient> = Layer.effect(
  UsageStore,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const [add, forget] = [addOn(sql), forgetOn(sql)];
    const { read, daysByKey } = readsOn(sql);
    return UsageStore.of({
      add: (batch) => add(batch).pipe(operation("UsageStore.add", batch.meter)),
      hours: (owner, from) => read("usage_hours", owner, from).pipe(operation("UsageStore.hours")),
      days: (owner, from) => read("usage_days", owner, from).pipe(operation("UsageStore.days")),
      daysByKey: (account, from) => daysByKey(account, from).pipe(operation("UsageStore.daysByKey")),
      forget: (before) => forget(before).pipe(operation("UsageStore.forget")),
    });
  }),
);

type Table = "usage_hours" | "usage_days";

const addOn = (sql: SqlClient.SqlClient) => {
  const { elements, isAmong } = dialectOf(sql);

  /** Locks the meter until the end of the transaction, so that a repeated batch waits for the first. */
  const begin = ({ meter, sequence, hour }: UsageBatch) => sql`
    INSERT INTO usage_meters (id, last_batch, hour) VALUES (${meter}, ${sequence}, ${hour})
    ON CONFLICT (id) DO UPDATE SET last_batch = excluded.last_batch, hour = excluded.hour
    WHERE usage_meters.last_batch < excluded.last_batch
    RETURNING last_batch`;

  /** @param counts a JSON array of `[key, group, served, refused, errors]` */
  const addTo = (table: Table, from: Millis, counts: string) => sql`
    INSERT INTO ${sql(table)} (key_id, starts_at, route_group, served, refused, errors)
    SELECT value ->> 0, ${from}, value ->> 1, CAST(value ->> 2 AS BIGINT), CAST(value ->> 3 AS BIGINT),
      CAST(value ->> 4 AS BIGINT)
    FROM ${elements(counts)} WHERE true
    ON CONFLICT (key_id, starts_at, route_group) DO UPDATE SET
      served = ${sql(table)}.served + excluded.served,
      refused = ${sql(table)}.refused + excluded.refused,
      errors = ${sql(table)}.errors + excluded.errors`;

  // With the second list, Postgres finds the keys by their index; the join alone would scan them.
  const noteUses = ({ uses }: UsageBatch) => sql`
    UPDATE keys SET last_used_at = CAST(value ->> 1 AS BIGINT)
    FROM ${elements(JSON.stringify(uses.map(({ key, at }) => [key, at])))}
    WHERE keys.id = value ->> 0 AND keys.id ${isAmong(JSON.stringify(uses.map(({ key }) => key)))} AND (
      last_used_at IS NULL OR last_used_at <= CAST(value ->> 1 AS BIGINT) - ${lastUsePrecision})`;

  return Effect.fnUntraced(function* (batch: UsageBatch) {
    const isNew = (yield* begin(batch)).length > 0;
    if (!isNew) return;
    const counts = rowsOf(batch);
    yield* addTo("usage_hours", batch.hour, counts);
    yield* addTo("usage_days", startOfDay(batch.hour), counts);
    yield* noteUses(batch);
  }, sql.withTransaction);
};

/** Sorted, to avoid deadlocks. */
const rowsOf = ({ counts }: UsageBatch): string =>
  JSON.stringify(
    counts
      .toSorted((one, other) => compare(one.key, other.key) || compare(one.group, other.group))
      .map(({ key, group, served, refused, errors }) => [key, group, served, refused, errors]),
  );

const compare = (one: string, other: string): number => {
  if (one === other) return 0;
  return one < other ? -1 : 1;
};

const readsOn = (sql: SqlClient.SqlClient) => {
  const { isAnyOf } = dialectOf(sql);
  const isOf = (owner: UsageOwner) =>
    "key" in owner
      ? sql`= ${owner.key}`
      : isAnyOf(
          sql`SELECT keys.id FROM keys JOIN scopes ON scopes.pid = keys.pid WHERE scopes.account = ${owner.account}`,
        );
  return {
    read: (table: Table, owner: UsageOwner, from: Millis) =>
      sql`
        SELECT starts_at, route_group, CAST(SUM(served) AS BIGINT) AS served,
          CAST(SUM(refused) AS BIGINT) AS refused, CAST(SUM(errors) AS BIGINT) AS errors
        FROM ${sql(table)} WHERE key_id ${isOf(owner)} AND starts_at >= ${from}
        GROUP BY starts_at, route_group`.pipe(
        Effect.flatMap(readPeriods),
        Effect.map((periods) => periods.toSorted(byTimeAndGroup)),
      ),

    daysByKey: (account: string, from: Millis) =>
      sql`
        SELECT key_id, starts_at, route_group, served, refused, errors
        FROM usage_days WHERE key_id ${isOf({ account })} AND starts_at >= ${from}`.pipe(
        Effect.flatMap(readKeyPeriods),
        Effect.map((rows) => {
          const byKey = groupBy(rows, ({ key }) => key);
          return new Map(
            Array.from(byKey, ([key, of]) => [key, of.map(({ period }) => period).toSorted(byTimeAndGroup)]),
          );
        }),
      ),
  };
};

const PeriodRow = Schema.Struct({
  starts_at: Schema.Int,
  route_group: literalsOf<UsageGroup>({ lookup: true, bulk: true, write: true, alts: true, session: true }),
  served: Schema.Int,
  refused: Schema.Int,
  errors: Schema.Int,
});

const periodOf = ({ starts_at, route_group, ...counts }: typeof PeriodRow.Type): UsagePeriod => ({
  from: starts_at,
  group: route_group,
  ...counts,
});

const readPeriods = schemaReaderOf("usage", PeriodRow, periodOf);

const readKeyPeriods = schemaReaderOf(
  "usage",
  Schema.Struct({ key_id: KeyId, ...PeriodRow.fields }),
  ({ key_id, ...row }) => ({ key: key_id, period: periodOf(row) }),
);

const forgetOn = (sql: SqlClient.SqlClient) => {
  const { firstRows, rowsWritten } = dialectOf(sql);

  const forgetIn = (table: Table, before: Millis) => {
    const batch = firstRows({
      table,
      primaryKey: ["key_id", "starts_at", "route_group"],
      order: "starts_at",
      condition: sql`starts_at < ${before}`,
      limit: batchSize,
    });
    return inBatches(Effect.map(sql`DELETE FROM ${sql(table)} ${batch}`.raw, rowsWritten));
  };

  return Effect.fnUntraced(function* (before: { readonly hours: Millis; readonly days: Millis }) {
    yield* forgetIn("usage_hours", before.hours);
    yield* forgetIn("usage_days", before.days);
    yield* sql`DELETE FROM usage_meters WHERE hour < ${before.hours}`;
  });
};
