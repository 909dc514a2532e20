/** `UsageStore` on a key-value store. */

import type { KeyId } from "@accountlink/core";
import { type Millis, startOfDay } from "@accountlink/core/timestamp";
import {
  addUsage,
  lastUsePrecision,
  sumUsage,
  type UsageBatch,
  type UsageOwner,
  UsageStore,
} from "@accountlink/core/usage";
import { Effect, Layer } from "effect";
import { Database } from "../records/database.ts";
import { keys, meters, usage } from "../records/schema.ts";
import { forget } from "../records/steps.ts";
import type { Transaction } from "../records/transaction.ts";

export const layer: Layer.Layer<UsageStore, never, Database> = Layer.effect(
  UsageStore,
  Effect.map(Database, (db) =>
    UsageStore.of({
      add: (batch) => db.write("UsageStore.add", (tx) => add(tx, batch)),
      hours: (owner, from) => db.read("UsageStore.hours", (tx) => periods(tx, "hour", owner, from)),
      days: (owner, from) => db.read("UsageStore.days", (tx) => periods(tx, "day", owner, from)),
      daysByKey: (account, from) => db.read("UsageStore.daysByKey", (tx) => daysByKey(tx, account, from)),
      forget: ({ hours, days }) =>
        Effect.gen(function* () {
          const name = "UsageStore.forget";
          yield* forget(db, name, usage, ["time", "hour"], ({ from }) => from < hours);
          yield* forget(db, name, usage, ["time", "day"], ({ from }) => from < days);
          yield* forget(db, name, meters, ["hour"], ({ hour }) => hour < hours);
        }),
    }),
  ),
);

const add = Effect.fnUntraced(function* (
  tx: Transaction,
  { meter, sequence, hour, counts, uses }: UsageBatch,
) {
  if (sequence <= ((yield* meters.find(tx, meter))?.sequence ?? 0)) return;
  yield* meters.put(tx, { meter, sequence, hour });
  const units = [
    { unit: "hour", from: hour },
    { unit: "day", from: startOfDay(hour) },
  ] as const;
  for (const count of counts) {
    for (const { unit, from } of units) {
      const known = yield* usage.find(tx, unit, count.key, from, count.group);
      yield* usage.put(tx, { ...count, ...(known && addUsage(known, count)), unit, from });
    }
  }
  for (const { key, at } of uses) {
    const stored = yield* keys.find(tx, key);
    if (stored !== undefined && at - (stored.lastUsedAt ?? -Infinity) >= lastUsePrecision) {
      yield* keys.put(tx, { ...stored, lastUsedAt: at });
    }
  }
});

const periods = Effect.fnUntraced(function* (
  tx: Transaction,
  unit: "hour" | "day",
  owner: UsageOwner,
  from: Millis,
) {
  const owned = "key" in owner ? [owner.key] : yield* keysOf(tx, owner.account);
  const found = yield* Effect.forEach(owned, (key) => periodsOf(tx, unit, key, from));
  return sumUsage(found.flat());
});

const daysByKey = Effect.fnUntraced(function* (tx: Transaction, account: string, from: Millis) {
  const found = yield* Effect.forEach(yield* keysOf(tx, account), (key) =>
    Effect.map(periodsOf(tx, "day", key, from), (days) => [key, sumUsage(days)] as const),
  );
  return new Map(found.filter(([, days]) => days.length > 0));
});

const periodsOf = (tx: Transaction, unit: "hour" | "day", key: KeyId, from: Millis) =>
  usage.scan(tx, [unit, key], { after: [unit, key, from] });

const keysOf = (tx: Transaction, account: string) =>
  Effect.map(keys.list(tx, "account", [account]), (all) => all.map(({ key }) => key.id));
