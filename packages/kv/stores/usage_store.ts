import type { KeyId } from "@accountlink/core";
import { forEachLimited } from "@accountlink/core/limited_loops";
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
import { itemsOf, removeInSteps, shortListsAtOnce } from "../steps.ts";
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

/** The usage of each key since a time. */
const readUsage = (tx: Transaction, ids: ReadonlyArray<KeyId>, from: Millis) =>
  forEachLimited(ids, (id) => tx.scan(usage, [id], { from: [from] }), { concurrency: shortListsAtOnce });

/** Adds up the usage of each group in a day, oldest day first. */
const sumOf = (found: ReadonlyArray<DayUsage>): ReadonlyArray<UsagePeriod> => {
  const sums = new Map<string, UsagePeriod>();
  for (const { day, group, ...counts } of found) {
    const name = `${day} ${group}`;
    sums.set(name, { from: day, group, ...addUsage(sums.get(name) ?? nothing, counts) });
  }
  return [...sums.values()].toSorted(byTimeAndGroup);
};

export const layer = storeLayer(UsageStore, (db) => ({
  add: ({ meter, sequence, day, counts, uses }) =>
    Effect.gen(function* () {
      assertStorable([meter]);
      const all = [
        ...counts.map((count) => ({ count, use: undefined })),
        ...uses.map((use) => ({ count: undefined, use })),
      ];
      const parts = all.length === 0 ? [[]] : Arr.chunksOf(all, itemsOf(db, 2, { beside: 3 }));
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
      return sumOf((yield* readUsage(tx, ids, from)).flat());
    }),

  daysByKey: (account, from) =>
    db.read(function* (tx) {
      const ids = yield* keysOf(tx, account);
      const found = yield* readUsage(tx, ids, from);
      const byKey = found.map((periods, index) => [ids[index] as KeyId, sumOf(periods)] as const);
      return new Map(byKey.filter(([, periods]) => periods.length > 0));
    }),

  forget: (before) =>
    Effect.gen(function* () {
      yield* removeInSteps(db, usage.byDay, [], { before: [before] });
      yield* removeInSteps(db, meters.byDay, [], { before: [before] }, ({ day }) => day < before);
    }),
}));
