/**
 * Counts the requests of API keys in memory, and saves the counts every few seconds.
 */
import { Cause, Clock, Context, Effect, Layer } from "effect";
import { uuidV4Unsafe } from "effect/crypto/SecureRandom";
import type { StoreUnavailable } from "../errors.ts";
import type { KeyId } from "../ids.ts";
import { warnOnce } from "../telemetry/warn_once.ts";
import { hourMs, type Millis } from "../timestamp.ts";
import { KeyCounters } from "./key_counters.ts";
import { type UsageGroup, type UsageOutcome } from "./usage.ts";
import { type UsageBatch, UsageStore } from "./usage_store.ts";

/** How often counts are saved, in milliseconds. With the time of a save, a crash loses at most 5 seconds. */
export const flushInterval = 2_000;

/** The most that a stop waits for the last save. */
const lastFlushTimeout = "5 seconds";

/**
 * Counts requests whose key was accepted.
 *
 * @internal
 */
export class UsageMeter extends Context.Service<
  UsageMeter,
  {
    /** Counts a request that was answered at a time. */
    readonly count: (key: KeyId, group: UsageGroup, outcome: UsageOutcome, at: Millis) => void;
  }
>()("@accountlink/core/UsageMeter") {
  /**
   * Saves every `flushInterval`, and once more when the scope closes. A batch that could not be
   * saved is repeated with its number, so that it counts once.
   */
  static readonly layer = Layer.effect(
    UsageMeter,
    Effect.gen(function* () {
      const store = yield* UsageStore;
      const meter = uuidV4Unsafe();
      const counters = new KeyCounters();
      const unsaved: Array<UsageBatch> = [];
      let sequence = 0;
      let hour = hourOf(yield* Clock.currentTimeMillis);

      const closeBatches = () => {
        for (const page of counters.take()) unsaved.push({ ...page, meter, sequence: ++sequence, hour });
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
        // What was counted while a batch was repeated is in a second pass.
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
          if (at < hour || at >= hour + hourMs) {
            closeBatches();
            hour = hourOf(at);
          }
          counters.count(key, group, outcome, at);
        },
      });
    }),
  );
}

const hourOf = (at: Millis): Millis => at - (at % hourMs);

const requestsIn = (counts: UsageBatch["counts"]): number =>
  counts.reduce((sum, { served, refused, errors }) => sum + served + refused + errors, 0);
