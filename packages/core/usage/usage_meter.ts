import { Array as Arr, Cause, Clock, Context, Effect, Layer } from "effect";
import { uuidV4Unsafe } from "effect/crypto/SecureRandom";
import type { StoreEffect } from "../errors.ts";
import type { KeyId } from "../ids.ts";
import { warnOnce } from "../telemetry/warn_once.ts";
import { dayMs, type Millis, startOfDay } from "../timestamp.ts";
import { type UsageBatch, type UsageGroup, type UsageOutcome, UsageStore } from "./usage_store.ts";

/**
 * How often counts are saved, in milliseconds. As a save also takes time, a crash loses the counts of up to 5 seconds.
 */
export const flushInterval = 2_000;

/** How long a stopping meter waits until the last counts are saved. */
const lastFlushTimeout = "5 seconds";

/** Counts requests with accepted keys in memory, and saves the counts every few seconds. @internal */
export class UsageMeter extends Context.Service<UsageMeter>()("@accountlink/core/UsageMeter", {
  make: Effect.gen(function* () {
    const store = yield* UsageStore;
    const meter = uuidV4Unsafe();
    let counts = new Map<KeyId, KeyCounts>();
    const unsaved: Array<UsageBatch> = [];
    let sequence = 0;
    let day = startOfDay(yield* Clock.currentTimeMillis);

    const closeBatches = () => {
      for (const page of Arr.chunksOf(counts, pageSize)) {
        unsaved.push({
          meter,
          sequence: ++sequence,
          day,
          uses: page.map(([key, { lastUsedAt }]) => ({ key, at: lastUsedAt })),
          counts: page.flatMap(([key, { groups }]) =>
            Array.from(groups, ([group, ofGroup]) => ({ key, group, ...ofGroup })),
          ),
        });
      }
      counts = new Map();
    };

    const flush: StoreEffect<void> = Effect.gen(function* () {
      if (unsaved.length === 0) closeBatches();
      for (let batch = unsaved[0]; batch !== undefined; batch = unsaved[0]) {
        yield* store.add(batch);
        unsaved.shift();
      }
    });
    const flushOrWarn = yield* warnOnce("Cannot save usage", flush);
    yield* Effect.addFinalizer(() =>
      // If a batch failed before, the first `flush` saves only that batch. The second one saves the later counts.
      Effect.andThen(flush, flush).pipe(
        Effect.timeout(lastFlushTimeout),
        Effect.catchCause((cause) => {
          closeBatches();
          const requests = unsaved.reduce((sum, batch) => sum + requestsIn(batch.counts), 0);
          return Effect.annotateLogs(Effect.logError("Cannot save the last usage"), {
            requests,
            cause: Cause.pretty(cause),
          });
        }),
      ),
    );
    yield* flushOrWarn.pipe(Effect.delay(flushInterval), Effect.forever, Effect.forkScoped);

    return {
      /** Counts a request that was answered at the time `at`. */
      count: (key: KeyId, group: UsageGroup, outcome: UsageOutcome, at: Millis) => {
        if (at < day || at >= day + dayMs) {
          closeBatches();
          day = startOfDay(at);
        }
        const ofKey = counts.get(key) ?? { groups: new Map<UsageGroup, GroupCounts>(), lastUsedAt: at };
        const ofGroup = ofKey.groups.get(group) ?? { served: 0, refused: 0, errors: 0 };
        ofGroup[outcome]++;
        ofKey.lastUsedAt = at;
        ofKey.groups.set(group, ofGroup);
        counts.set(key, ofKey);
      },
    };
  }),
}) {
  /**
   * Saves the counts every `flushInterval`, and once more when the scope closes. A failed batch is saved again under
   * the same number, so that the store counts it only once.
   */
  static readonly layer = Layer.effect(UsageMeter, UsageMeter.make);
}

const requestsIn = (counts: UsageBatch["counts"]): number =>
  counts.reduce((sum, { served, refused, errors }) => sum + served + refused + errors, 0);

const pageSize = 1_000;

type GroupCounts = Record<UsageOutcome, number>;

interface KeyCounts {
  readonly groups: Map<UsageGroup, GroupCounts>;
  lastUsedAt: Millis;
}
