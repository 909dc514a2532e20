import type { KeyId } from "@accountlink/core";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import {
  addUsage,
  byTimeAndGroup,
  type KeyUsage,
  lastUsePrecision,
  type UsageBatch,
  type UsagePeriod,
  UsageStore,
} from "@accountlink/core/usage";
import { Array as Arr, Effect } from "effect";
import { removeInSteps, stepSize } from "../steps.ts";
import { table } from "../table.ts";
import type { Transaction } from "../transaction.ts";
import { keys, lastUses } from "./keys.ts";
import { accountNamed } from "./scopes.ts";
import { storeLayer } from "./store_layer.ts";

interface DayUsage extends KeyUsage {
  readonly day: Millis;
}

export const usage = table<DayUsage>()("usage", ({ key, day, group }) => [key, day, group], {
  byDay: { keys: ({ key, day, group }) => [[day, key, group]] },
});

/** The last batch of a `UsageMeter`, and how many of its parts are stored. */
interface Meter extends Pick<UsageBatch, "meter" | "sequence" | "day"> {
  readonly parts: number;
}

export const meters = table<Meter>()("meter", ({ meter }) => [meter], {
  byDay: { keys: ({ meter, day }) => [[day, meter]] },
});

const nothing = { served: 0, refused: 0, errors: 0 };

const keysOf = Effect.fnUntraced(function* (tx: Transaction, name: string) {
  const account = yield* accountNamed(tx, name);
  return account === undefined ? [] : (yield* tx.list(keys.byAccount, [account.id])).map(({ key }) => key.id);
});

/** The total usage of the keys, oldest day first. */
const sumOf = Effect.fnUntraced(function* (tx: Transaction, ids: ReadonlyArray<KeyId>, from: Millis) {
  const sums = new Map<string, UsagePeriod>();
  for (const id of ids) {
    for (const { day, group, ...counts } of yield* tx.scan(usage, [id], { from: [from] })) {
      const name = `${day} ${group}`;
      sums.set(name, { from: day, group, ...addUsage(sums.get(name) ?? nothing, counts) });
    }
  }
  return [...sums.values()].toSorted(byTimeAndGroup);
});

export const layer = storeLayer(UsageStore, (db) => ({
  add: ({ meter, sequence, day, counts, uses }) =>
    Effect.gen(function* () {
      assertStorable([meter]);
      const all = [
        ...counts.map((count) => ({ count, use: undefined })),
        ...uses.map((use) => ({ count: undefined, use })),
      ];
      const parts = all.length === 0 ? [[]] : Arr.chunksOf(all, stepSize);
      for (const [index, part] of parts.entries()) {
        // The meter counts the stored parts, so that a repeated batch goes on where it ended.
        yield* db.write(meter, function* (tx) {
          const stored = yield* tx.get(meters, meter);
          const done = stored?.sequence === sequence ? stored.parts : 0;
          if (sequence < (stored?.sequence ?? 0) || done > index) return;
          yield* tx.put(meters, { meter, sequence, day, parts: index + 1 });
          for (const { count, use } of part) {
            if (count !== undefined) {
              const before = (yield* tx.get(usage, count.key, day, count.group)) ?? nothing;
              yield* tx.put(usage, { key: count.key, group: count.group, day, ...addUsage(before, count) });
            }
            if (use === undefined || (yield* tx.get(keys, use.key)) === undefined) continue;
            const last = (yield* tx.get(lastUses, use.key))?.at ?? -Infinity;
            if (use.at - last >= lastUsePrecision) yield* tx.put(lastUses, { key: use.key, at: use.at });
          }
        });
      }
    }),

  days: (owner, from) =>
    db.read(function* (tx) {
      const ids = "key" in owner ? [owner.key] : yield* keysOf(tx, owner.account);
      return yield* sumOf(tx, ids, from);
    }),

  daysByKey: (account, from) =>
    db.read(function* (tx) {
      const found = new Map<KeyId, ReadonlyArray<UsagePeriod>>();
      for (const id of yield* keysOf(tx, account)) {
        const periods = yield* sumOf(tx, [id], from);
        if (periods.length > 0) found.set(id, periods);
      }
      return found;
    }),

  forget: (before) =>
    Effect.gen(function* () {
      yield* removeInSteps(db, usage.byDay, [], { before: [before] });
      yield* removeInSteps(db, meters.byDay, [], { before: [before] }, ({ day }) => day < before);
    }),
}));
