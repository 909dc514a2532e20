import type { KeyId } from "@accountlink/core";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import {
  addUsage,
  byTimeAndGroup,
  lastUsePrecision,
  type UsagePeriod,
  UsageStore,
} from "@accountlink/core/usage";
import { layerOf } from "./state.ts";

const nothing = { served: 0, refused: 0, errors: 0 };

export const layer = layerOf(UsageStore, ({ usage, meters, keys }) => {
  const keysOf = (account: string) =>
    [...keys.values()].filter(({ key }) => key.scope.account === account).map(({ key }) => key.id);

  /** The total usage of the keys, oldest day first. */
  const sumOf = (ids: ReadonlyArray<KeyId>, from: Millis): ReadonlyArray<UsagePeriod> => {
    const sums = new Map<string, UsagePeriod>();
    for (const { key, ...period } of usage.values()) {
      if (period.from < from || !ids.includes(key)) continue;
      const name = `${period.from} ${period.group}`;
      sums.set(name, { ...period, ...addUsage(sums.get(name) ?? nothing, period) });
    }
    return [...sums.values()].toSorted(byTimeAndGroup);
  };

  return {
    add: ({ meter, sequence, day, counts, uses }) => {
      assertStorable([meter]);
      if (sequence <= (meters.get(meter)?.sequence ?? 0)) return;
      meters.set(meter, { sequence, day });
      for (const count of counts) {
        const name = `${day} ${count.key} ${count.group}`;
        const sum = addUsage(usage.get(name) ?? nothing, count);
        usage.set(name, { ...count, ...sum, from: day });
      }
      for (const { key, at } of uses) {
        const stored = keys.get(key);
        const isLater = stored !== undefined && at - (stored.lastUsedAt ?? -Infinity) >= lastUsePrecision;
        if (isLater) keys.set(key, { ...stored, lastUsedAt: at });
      }
    },

    days: (owner, from) => sumOf("key" in owner ? [owner.key] : keysOf(owner.account), from),

    daysByKey: (account, from) => {
      const found = keysOf(account).map((key) => [key, sumOf([key], from)] as const);
      return new Map(found.filter(([, periods]) => periods.length > 0));
    },

    forget: (before) => {
      for (const [name, { from }] of usage) if (from < before) usage.delete(name);
      for (const [meter, { day }] of meters) if (day < before) meters.delete(meter);
    },
  };
});
