import { Counters, type StoreUnavailable } from "@accountlink/core";
import {
  type Admission,
  type CounterRule,
  type CounterState,
  type DayCount,
  DayCounts,
} from "@accountlink/core/limits";
import { warnOnce } from "@accountlink/core/telemetry";
import { clockTolerance, dayMs, type Millis } from "@accountlink/core/timestamp";
import { Array as Arr, Clock, Effect, Layer } from "effect";

const countersOn = (windows: Windows): Counters["Service"] => ({
  admit: (rules, now) => Effect.sync(() => windows.admit(rules, now)),
  read: (rules, now) => Effect.sync(() => windows.read(rules, now)),
});

/** Counters in memory. The counts are lost when the process ends. */
export const layer: Layer.Layer<Counters> = Layer.sync(Counters, () => countersOn(new Windows()));

const saveInterval = "5 seconds";

const maxBatchSize = 1_000;

/** Counters in memory that save the counts of the day every 5 seconds and when they stop, and continue from them. */
export const layerSaved: Layer.Layer<Counters, StoreUnavailable, DayCounts> = Effect.gen(function* () {
  const dayCounts = yield* DayCounts;
  const windows = new Windows();
  windows.restore(yield* dayCounts.load(yield* Clock.currentTimeMillis));

  const save = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis;
    const counts = windows.takeChanged(now);
    yield* Effect.forEach(Arr.chunksOf(counts, maxBatchSize), (batch) => dayCounts.save(batch, now)).pipe(
      Effect.onError(() => Effect.sync(() => windows.markChanged(counts))),
    );
  });
  const saveOrWarn = yield* warnOnce("Cannot save the counts of limits", save);
  yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(saveOrWarn, "2 seconds")));
  yield* saveOrWarn.pipe(Effect.delay(saveInterval), Effect.forever, Effect.forkScoped);
  return countersOn(windows);
}).pipe(Layer.effect(Counters));

interface Window {
  count: number;
  readonly resetsAt: Millis;
}

type Rules = ReadonlyArray<CounterRule>;

/** Each new window checks this many others, and drops the ended ones. If it checked only one, they would pile up. */
const sweepStep = 2;

/** Counts requests in fixed windows, and drops ended windows when new ones start. */
export class Windows {
  readonly #windows = new Map<string, Window>();
  #sweep = this.#windows.entries();
  /** Keys of the windows of a day whose counts are not saved. */
  #changed = new Set<string>();

  /** The number of windows, including ended ones that are not dropped yet. */
  get size(): number {
    return this.#windows.size;
  }

  /** Counts a request in the windows of all rules, or in none if a window is full. */
  admit(rules: Rules, now: Millis): Admission {
    const admitted = rules.every((rule) => (this.#find(rule, now)?.count ?? 0) < rule.limit);
    return {
      admitted,
      states: admitted ? rules.map((rule) => this.#count(rule, now)) : this.read(rules, now),
    };
  }

  read(rules: Rules, now: Millis): ReadonlyArray<CounterState> {
    return rules.map((rule) => {
      const window = this.#find(rule, now);
      return window === undefined ? { count: 0, resetsAt: now + rule.durationMs } : stateOf(window);
    });
  }

  restore(counts: ReadonlyArray<DayCount>): void {
    for (const { key, endsAt, counted } of counts)
      this.#windows.set(key, { count: counted, resetsAt: endsAt });
  }

  takeChanged(now: Millis): ReadonlyArray<DayCount> {
    const keys = this.#changed;
    this.#changed = new Set();
    return Array.from(keys).flatMap((key) => {
      const window = this.#find({ key, durationMs: dayMs }, now);
      return window === undefined ? [] : [{ key, endsAt: window.resetsAt, counted: window.count }];
    });
  }

  markChanged(counts: ReadonlyArray<DayCount>): void {
    for (const { key } of counts) this.#changed.add(key);
  }

  #find({ key, durationMs }: Pick<CounterRule, "key" | "durationMs">, now: Millis): Window | undefined {
    const window = this.#windows.get(key);
    if (window === undefined || now >= window.resetsAt) return undefined;
    return window.resetsAt - now <= durationMs + clockTolerance ? window : undefined;
  }

  #count(rule: CounterRule, now: Millis): CounterState {
    const { key, durationMs, isDay = false } = rule;
    const window = this.#find(rule, now) ?? this.#begin(key, now, now + durationMs);
    window.count++;
    if (isDay) this.#changed.add(key);
    return stateOf(window);
  }

  #begin(key: string, now: Millis, resetsAt: Millis): Window {
    const window = { count: 0, resetsAt };
    this.#windows.set(key, window);
    this.#dropSomeEnded(now);
    return window;
  }

  // Checking all windows at once, or setting a timer for each window, would cost a busy service too much.
  #dropSomeEnded(now: Millis): void {
    for (let step = 0; step < sweepStep; step++) {
      const { done, value } = this.#sweep.next();
      if (done) this.#sweep = this.#windows.entries();
      else if (value[1].resetsAt <= now) this.#windows.delete(value[0]);
    }
  }
}

const stateOf = ({ count, resetsAt }: Window): CounterState => ({ count, resetsAt });
