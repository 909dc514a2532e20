import { KeyId } from "@accountlink/core";
import { groupBy } from "@accountlink/core/group_by";
import { assertStorable } from "@accountlink/core/storable_text";
import {
  byTimeAndGroup,
  lastUsePrecision,
  type UsageBatch,
  type UsageGroup,
  type UsageOwner,
  type UsagePeriod,
  UsageStore,
} from "@accountlink/core/usage";
import { Order, Schema } from "effect";
import { deleteInBatches } from "./statements/in_batches.ts";
import { literalsOf, tableOf } from "./statements/row.ts";
import { storeLayer } from "./statements/store_operation.ts";

export const layer = storeLayer(UsageStore)((parts) => {
  const { sql, operation, transaction, elements, isAmong, isAnyOf, isRemote } = parts;
  const noteUses = ({ uses }: UsageBatch) => {
    // `isUsed` lets Postgres find the keys by index. With the join alone, Postgres would scan all keys. On SQLite,
    // `isUsed` is left out, because with it, SQLite would read the list of uses again for each key.
    const isUsed = isRemote ? sql`keys.id ${isAmong(JSON.stringify(uses.map(({ key }) => key)))} AND` : sql``;
    return sql`
      UPDATE keys SET last_used_at = CAST(value ->> 1 AS BIGINT)
      FROM ${elements(JSON.stringify(uses.map(({ key, at }) => [key, at])))}
      WHERE keys.id = value ->> 0 AND ${isUsed} (
        last_used_at IS NULL OR last_used_at <= CAST(value ->> 1 AS BIGINT) - ${lastUsePrecision})`;
  };

  const isOf = (owner: UsageOwner) =>
    "key" in owner
      ? sql`= ${owner.key}`
      : isAnyOf(
          sql`SELECT keys.id FROM keys JOIN scopes ON scopes.pid = keys.pid WHERE scopes.account = ${owner.account}`,
        );

  return {
    add: transaction("add", function* (batch) {
      const { meter, sequence, day } = batch;
      assertStorable([meter]);
      // Locks the usage meter until the end of the transaction, so that a retry of a batch waits for the first
      // attempt.
      const begun = yield* sql`
        INSERT INTO usage_meters (id, last_batch, day) VALUES (${meter}, ${sequence}, ${day})
        ON CONFLICT (id) DO UPDATE SET last_batch = excluded.last_batch, day = excluded.day
        WHERE usage_meters.last_batch < excluded.last_batch
        RETURNING last_batch`;
      if (begun.length === 0) return;
      yield* sql`
        INSERT INTO usage_days (key_id, starts_at, route_group, served, refused, errors)
        SELECT value ->> 0, ${day}, value ->> 1, CAST(value ->> 2 AS BIGINT), CAST(value ->> 3 AS BIGINT),
          CAST(value ->> 4 AS BIGINT)
        FROM ${elements(rowsOf(batch))} WHERE true
        ON CONFLICT (key_id, starts_at, route_group) DO UPDATE SET
          served = usage_days.served + excluded.served,
          refused = usage_days.refused + excluded.refused,
          errors = usage_days.errors + excluded.errors`;
      yield* noteUses(batch);
    }),

    days: operation("days", function* (owner, from) {
      const periods = yield* readPeriods(sql`
        SELECT starts_at, route_group, CAST(SUM(served) AS BIGINT) AS served,
          CAST(SUM(refused) AS BIGINT) AS refused, CAST(SUM(errors) AS BIGINT) AS errors
        FROM usage_days WHERE key_id ${isOf(owner)} AND starts_at >= ${from}
        GROUP BY starts_at, route_group`);
      return periods.toSorted(byTimeAndGroup);
    }),

    daysByKey: operation("daysByKey", function* (account, from) {
      const rows = yield* readKeyPeriods(sql`
        SELECT key_id, starts_at, route_group, served, refused, errors
        FROM usage_days WHERE key_id ${isOf({ account })} AND starts_at >= ${from}`);
      const byKey = groupBy(rows, ({ key }) => key);
      return new Map(
        Array.from(byKey, ([key, of]) => [key, of.map(({ period }) => period).toSorted(byTimeAndGroup)]),
      );
    }),

    forget: operation("forget", function* (before) {
      yield* deleteInBatches(sql, {
        table: "usage_days",
        primaryKey: ["key_id", "starts_at", "route_group"],
        order: "starts_at",
        condition: sql`starts_at < ${before}`,
      });
      yield* sql`DELETE FROM usage_meters WHERE day < ${before}`;
    }),
  };
});

/**
 * Returns a JSON array with an array for each count: key, group, served, refused and errors. Sorted, so that concurrent
 * batches lock rows in the same order and cannot deadlock.
 */
const rowsOf = ({ counts }: UsageBatch): string =>
  JSON.stringify(
    counts
      .toSorted((one, other) => Order.String(one.key, other.key) || Order.String(one.group, other.group))
      .map(({ key, group, served, refused, errors }) => [key, group, served, refused, errors]),
  );

const periodFields = {
  from: Schema.Int,
  group: literalsOf<UsageGroup>({ lookup: true, bulk: true, write: true, alts: true, session: true }),
  served: Schema.Int,
  refused: Schema.Int,
  errors: Schema.Int,
};

const columns = { from: "starts_at", group: "route_group" };

const readPeriods = tableOf("usage", periodFields, columns).reader((period): UsagePeriod => period);

const readKeyPeriods = tableOf("usage", { keyId: KeyId, ...periodFields }, columns).reader(
  ({ keyId: key, ...period }) => ({ key, period }),
);
