import type { KeyId } from "@accountlink/core";
import { assertStorable } from "@accountlink/core/storable_text";
import { lastUsePrecision, type UsageBatch, type UsageOwner, UsageStore } from "@accountlink/core/usage";
import { layerOf, type Memory } from "./state/state.ts";

export const layer = layerOf(UsageStore, (memory) => ({
  add: (batch) => {
    assertStorable([batch.meter]);
    if (memory.usage.add(batch)) noteUses(memory, batch);
  },

  days: (owner, from) => memory.usage.sumOf(keysOf(memory, owner), from),
  daysByKey: (account, from) => memory.usage.byKey(keysOf(memory, { account }), from),
  forget: (before) => memory.usage.forget(before),
}));

const noteUses = (memory: Memory, { uses }: UsageBatch): void => {
  for (const { key, at } of uses) {
    const stored = memory.keys.get(key);
    if (stored !== undefined && at - (stored.lastUsedAt ?? -Infinity) >= lastUsePrecision) {
      memory.keys.set(key, { ...stored, lastUsedAt: at });
    }
  }
};

const keysOf = (memory: Memory, owner: UsageOwner): ReadonlySet<KeyId> => {
  if ("key" in owner) return new Set([owner.key]);
  const keys = Array.from(memory.keys.values(), ({ key }) => key);
  return new Set(keys.filter(({ scope }) => scope.account === owner.account).map(({ id }) => id));
};
