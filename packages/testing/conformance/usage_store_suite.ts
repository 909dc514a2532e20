import type { KeyId, StoragePorts } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { dayMs } from "@accountlink/core/timestamp";
import {
  type KeyUsage,
  lastUsePrecision,
  type UsageBatch,
  type UsageCounts,
  UsageStore,
} from "@accountlink/core/usage";
import { Effect, Option } from "effect";
import { makeKey, uniqueKeyId, uniqueText } from "../mod.ts";
import { expectEqual, pluck } from "./expect.ts";
import { atOnce, makeScopes, origin } from "./scopes.ts";
import type { Cases } from "./suite.ts";

const today = 20_000 * dayMs;

const usageOf = (key: KeyId, counts: Partial<UsageCounts>): KeyUsage => ({
  key,
  group: "lookup",
  served: 0,
  refused: 0,
  errors: 0,
  ...counts,
});

const batchOf = (
  { meter = uniqueText(), sequence = 1, day = today }: Partial<UsageBatch>,
  ...counts: ReadonlyArray<KeyUsage>
): UsageBatch => ({
  meter,
  sequence,
  day,
  counts,
  uses: [...new Set(counts.map(({ key }) => key))].map((key) => ({ key, at: day })),
});

export const usageCases: Cases<StoragePorts> = {
  "concurrent batches of several meters lose no count": function* () {
    const usage = yield* UsageStore;
    const keys = Array.from({ length: 20 }, uniqueKeyId);
    const batches = Array.from({ length: 12 }, (_, i) => {
      const counts = keys.map((key) => usageOf(key, { served: 1, refused: 2 }));
      return usage.add(batchOf({}, ...(i % 2 === 0 ? counts : counts.toReversed())));
    });
    yield* Effect.all(batches, atOnce);
    for (const key of keys) {
      const sum = { group: "lookup", served: 12, refused: 24, errors: 0 };
      expectEqual<unknown>(yield* usage.days({ key }, 0), [{ from: today, ...sum }]);
    }
  },

  "concurrent adds of one batch count it once": function* () {
    const usage = yield* UsageStore;
    const key = uniqueKeyId();
    const batch = batchOf({}, usageOf(key, { served: 1 }));
    yield* Effect.replicateEffect(usage.add(batch), 10, atOnce);
    expectEqual((yield* usage.days({ key }, 0))[0]?.served, 1);
  },

  "add stores when keys were last used, and never moves this time back": function* () {
    const [usage, keys] = [yield* UsageStore, yield* KeyStore];
    const key = makeKey((yield* makeScopes).global);
    yield* keys.insertKey({ ...origin, key, hash: uniqueText(), maxKeys: null, at: 0 });
    const lastUseAfter = Effect.fnUntraced(function* (at: number) {
      yield* usage.add({ ...batchOf({}), uses: [key.id, uniqueKeyId()].map((id) => ({ key: id, at })) });
      return Option.getOrThrow(yield* keys.findDetails(key.id, at)).lastUsedAt;
    });
    const later = today + lastUsePrecision;
    for (const at of [today, later]) expectEqual(yield* lastUseAfter(at), at);
    expectEqual(yield* lastUseAfter(today), later);
  },

  "add takes a batch of thousands of keys": function* () {
    const usage = yield* UsageStore;
    const keys = Array.from({ length: 2_000 }, uniqueKeyId);
    yield* usage.add(batchOf({}, ...keys.map((key) => usageOf(key, { served: 7 }))));
    expectEqual((yield* usage.days({ key: keys.at(-1) as KeyId }, 0))[0]?.served, 7);
  },

  "counts are exact up to the largest safe integer": function* () {
    const usage = yield* UsageStore;
    const key = uniqueKeyId();
    const most = Number.MAX_SAFE_INTEGER;
    yield* usage.add(batchOf({}, usageOf(key, { served: most - 1 })));
    yield* usage.add(batchOf({}, usageOf(key, { served: 1 })));
    expectEqual((yield* usage.days({ key }, 0))[0]?.served, most);
  },

  // These cases use earlier days than all others, because `forget` deletes days of all keys.
  "concurrent forget deletes any number of rows": function* () {
    const usage = yield* UsageStore;
    const keys = Array.from({ length: 1_300 }, uniqueKeyId);
    const [old, kept] = [0, 3 * dayMs].map((day) =>
      batchOf({ day }, ...keys.map((key) => usageOf(key, { served: 1 }))),
    ) as [UsageBatch, UsageBatch];
    yield* usage.add(old);
    yield* usage.add(kept);
    const forget = usage.forget(dayMs);
    yield* Effect.all([forget, forget, forget], atOnce);
    // Concurrent calls skip rows that another call has locked, so one more call deletes the remaining rows.
    yield* forget;
    for (const key of [keys[0], keys[700], keys.at(-1)] as ReadonlyArray<KeyId>) {
      expectEqual(pluck(yield* usage.days({ key }, 0), "from"), [3 * dayMs]);
    }
  },
};
