/** `UsageStore` on a key-value store. */

import type { KeyId } from "@accountlink/core";
import type { Millis } from "@accountlink/core/timestamp";
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
      days: (owner, from) => db.read("UsageStore.days", (tx) => daysOf(tx, owner, from)),
      daysByKey: (account, from) => db.read("UsageStore.daysByKey", (tx) => daysByKey(tx, account, from)),
      forget: (before) =>
        Effect.gen(function* () {
          const name = "UsageStore.forget";
          yield* forget(db, name, usage, ["day"], ({ from }) => from < before);
          yield* forget(db, name, meters, ["day"], ({ day }) => day < before);
        }),
    }),
  ),
);

const add = Effect.fnUntraced(function* (
  tx: Transaction,
  { meter, sequence, day, counts, uses }: UsageBatch,
) {
  if (sequence <= ((yield* meters.find(tx, meter))?.sequence ?? 0)) return;
  yield* meters.put(tx, { meter, sequence, day });
  for (const count of counts) {
    const known = yield* usage.find(tx, count.key, day, count.group);
    yield* usage.put(tx, { ...count, ...(known && addUsage(known, count)), from: day });
  }
  for (const { key, at } of uses) {
    const stored = yield* keys.find(tx, key);
    if (stored !== undefined && at - (stored.lastUsedAt ?? -Infinity) >= lastUsePrecision) {
      yield* keys.put(tx, { ...stored, lastUsedAt: at });
    }
  }
});

const daysOf = Effect.fnUntraced(function* (tx: Transaction, owner: UsageOwner, from: Millis) {
  const owned = "key" in owner ? [owner.key] : yield* keysOf(tx, owner.account);
  const found = yield* Effect.forEach(owned, (key) => daysOfKey(tx, key, from));
  return sumUsage(found.flat());
});

const daysByKey = Effect.fnUntraced(function* (tx: Transaction, account: string, from: Millis) {
  const found = yield* Effect.forEach(yield* keysOf(tx, account), (key) =>
    Effect.map(daysOfKey(tx, key, from), (days) => [key, sumUsage(days)] as const),
  );
  return new Map(found.filter(([, days]) => days.length > 0));
});

const daysOfKey = (tx: Transaction, key: KeyId, from: Millis) =>
  usage.scan(tx, [key], { after: [key, from] });

const keysOf = (tx: Transaction, account: string) =>
  Effect.map(keys.list(tx, "account", [account]), (all) => all.map(({ key }) => key.id));
