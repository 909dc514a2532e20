import { Cause, Clock, Context, Effect, Layer } from "effect";
import { uuidV4Unsafe } from "effect/crypto/SecureRandom";
import type { StoreUnavailable } from "../errors.ts";
import type { KeyId } from "../ids.ts";
import { warnOnce } from "../telemetry/warn_once.ts";
import { dayMs, type Millis, startOfDay } from "../timestamp.ts";
import { type KeyUsage, type UsageGroup, type UsageOutcome, usageGroups, usageOutcomes } from "./usage.ts";
import { type KeyUse, type UsageBatch, UsageStore } from "./usage_store.ts";

/**
 * How often counts are saved, in milliseconds. As a save also takes time, a crash loses the counts of up to 5 seconds.
 */
export const flushInterval = 2_000;

/** How long a stopping meter waits until the last counts are saved. */
const lastFlushTimeout = "5 seconds";

/** Counts requests with accepted keys in memory, and saves the counts every few seconds. @internal */
export class UsageMeter extends Context.Service<
  UsageMeter,
  {
    /** Counts a request that was answered at the time `at`. */
    readonly count: (key: KeyId, group: UsageGroup, outcome: UsageOutcome, at: Millis) => void;
  }
>()("@accountlink/core/UsageMeter") {
  /**
   * Saves the counts every `flushInterval`, and once more when the scope closes. A failed batch is saved again under
   * the same number, so that the store counts it only once.
   */
  static readonly layer = Layer.effect(
    UsageMeter,
    Effect.gen(function* () {
      const store = yield* UsageStore;
      const meter = uuidV4Unsafe();
      const counters = new KeyCounters();
      const unsaved: Array<UsageBatch> = [];
      let sequence = 0;
      let day = startOfDay(yield* Clock.currentTimeMillis);

      const closeBatches = () => {
        for (const page of counters.take()) unsaved.push({ ...page, meter, sequence: ++sequence, day });
      };

      const flush: Effect.Effect<void, StoreUnavailable> = Effect.gen(function* () {
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
            const requests = unsaved.reduce((sum, { counts }) => sum + requestsIn(counts), 0);
            return Effect.annotateLogs(Effect.logError("Cannot save the last usage"), {
              requests,
              cause: Cause.pretty(cause),
            });
          }),
        ),
      );
      yield* flushOrWarn.pipe(Effect.delay(flushInterval), Effect.forever, Effect.forkScoped);

      return UsageMeter.of({
        count: (key, group, outcome, at) => {
          if (at < day || at >= day + dayMs) {
            closeBatches();
            day = startOfDay(at);
          }
          counters.count(key, group, outcome, at);
        },
      });
    }),
  );
}

const requestsIn = (counts: UsageBatch["counts"]): number =>
  counts.reduce((sum, { served, refused, errors }) => sum + served + refused + errors, 0);

const groupPlaces = Object.fromEntries(
  usageGroups.map((group, index) => [group, index * usageOutcomes.length]),
) as Record<UsageGroup, number>;
const outcomePlaces: Record<UsageOutcome, number> = { served: 0, refused: 1, errors: 2 };
const lastUsePlace = usageGroups.length * usageOutcomes.length;
const unused = -1;

const pageSize = 1_000;

/** Counts requests in memory, by key, group and outcome. */
class KeyCounters {
  /** The numbers of each key: the counts of each group by outcome, and then the time of the last use. */
  readonly #numbers = new Map<KeyId, Float64Array>();

  /** Counts a request. Allocates memory only for a key that is new, or that `take` has dropped. */
  count(key: KeyId, group: UsageGroup, outcome: UsageOutcome, at: Millis): void {
    let numbers = this.#numbers.get(key);
    if (numbers === undefined) {
      numbers = new Float64Array(lastUsePlace + 1);
      this.#numbers.set(key, numbers);
    }
    (numbers[groupPlaces[group] + outcomePlaces[outcome]] as number)++;
    numbers[lastUsePlace] = at;
  }

  /** Returns the counts in pages and resets them to zero. Drops keys that were not used since the previous call. */
  take(): ReadonlyArray<Pick<UsageBatch, "counts" | "uses">> {
    const pages: Array<{ readonly counts: Array<KeyUsage>; readonly uses: Array<KeyUse> }> = [];
    for (const [key, numbers] of this.#numbers) {
      const at = numbers[lastUsePlace] as number;
      if (at === unused) {
        this.#numbers.delete(key);
        continue;
      }
      let page = pages.at(-1);
      if (page === undefined || page.uses.length === pageSize) {
        page = { counts: [], uses: [] };
        pages.push(page);
      }
      page.uses.push({ key, at });
      page.counts.push(...usageIn(key, numbers));
      numbers.fill(0);
      numbers[lastUsePlace] = unused;
    }
    return pages;
  }
}

const usageIn = (key: KeyId, numbers: Float64Array): ReadonlyArray<KeyUsage> =>
  usageGroups.flatMap((group) => {
    const place = groupPlaces[group];
    const [served = 0, refused = 0, errors = 0] = numbers.subarray(place, place + usageOutcomes.length);
    return served + refused + errors === 0 ? [] : [{ key, group, served, refused, errors }];
  });
