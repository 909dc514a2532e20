/** `UsageStore` in memory. */
import type { KeyId } from "@accountlink/core";
import { assertStorable } from "@accountlink/core/storable_text";
import { lastUsePrecision, type UsageBatch, type UsageOwner, UsageStore } from "@accountlink/core/usage";
import { Effect, Layer } from "effect";
import { type Memory, State } from "../state/state.ts";
import { addBatch } from "../state/usage.ts";

export const layer: Layer.Layer<UsageStore, never, State> = Layer.effect(
  UsageStore,
  Effect.map(State, (memory) =>
    UsageStore.of({
      add: (batch) =>
        Effect.sync(() => {
          assertStorable([batch.meter]);
          if (addBatch(memory.usage, batch)) noteUses(memory, batch);
        }),

      hours: (owner, from) => Effect.sync(() => memory.usage.hours.sumOf(keysOf(memory, owner), from)),
      days: (owner, from) => Effect.sync(() => memory.usage.days.sumOf(keysOf(memory, owner), from)),
      daysByKey: (account, from) =>
        Effect.sync(() => memory.usage.days.byKey(keysOf(memory, { account }), from)),

      forget: (before) =>
        Effect.sync(() => {
          const { hours, days, meters } = memory.usage;
          hours.forget(before.hours);
          days.forget(before.days);
          for (const [meter, { hour }] of meters) if (hour < before.hours) meters.delete(meter);
        }),
    }),
  ),
);

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
