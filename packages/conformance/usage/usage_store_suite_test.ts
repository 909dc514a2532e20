import { type UsageBatch, UsageStore } from "@accountlink/core/usage";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect } from "effect";
import { usageStoreSuite } from "../mod.ts";
import { detectMistakes } from "../test_mistakes.ts";

type Shape = UsageStore["Service"];

/** The store with changed batches. */
const withBatches =
  (change: (batch: UsageBatch) => UsageBatch) =>
  (usage: Shape): Partial<Shape> => ({ add: (batch) => usage.add(change(batch)) });

/** Mistakes of an adapter, by the case that must detect them. */
detectMistakes(usageStoreSuite, StorageMemory.layer, UsageStore, {
  "batches add up in days, in order, by group": (usage) => ({
    days: (owner, from) => Effect.map(usage.days(owner, from), (periods) => periods.toReversed()),
  }),
  "reads begin with the given day": (usage) => ({
    days: (owner, from) => usage.days(owner, from + 1),
  }),
  "the usage of an account is that of all its keys, also of revoked ones": (usage) => ({
    days: (owner, from) => ("key" in owner ? usage.days(owner, from) : Effect.succeed([])),
  }),
  "the usage of an account by key is that of each key, also of revoked ones": (usage) => ({
    daysByKey: (account) => usage.daysByKey(account, 0),
  }),
  "a repeated or late batch of a meter changes nothing": withBatches((batch) => ({
    ...batch,
    meter: crypto.randomUUID(),
  })),
  "a batch that is added several times at once counts once": (usage) => ({
    add: (batch) => Effect.andThen(Effect.yieldNow, usage.add({ ...batch, meter: crypto.randomUUID() })),
  }),
  "a batch stores the last uses, which never go back": withBatches((batch) => ({ ...batch, uses: [] })),
  "a batch has thousands of keys": withBatches((batch) => ({
    ...batch,
    counts: batch.counts.slice(0, 1_000),
  })),
  "numbers are exact up to the largest safe integer; unstorable text is a defect": withBatches((batch) => ({
    ...batch,
    counts: batch.counts.map((count) => ({ ...count, served: Math.fround(count.served) })),
  })),
  "forget deletes days that began before a time": (usage) => ({
    forget: (before) => usage.forget(before + 1),
  }),
  "forget deletes any number of rows, on several nodes at once": (usage) => ({
    forget: () => usage.forget(0),
  }),
  "a meter is known as long as the day of its last batch": withBatches((batch) => ({
    ...batch,
    meter: crypto.randomUUID(),
  })),
});
