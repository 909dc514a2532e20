import { Counters } from "@accountlink/core";
import * as Immediate from "@accountlink/core/immediate";
import {
  type Admission,
  type Checkpoint,
  type CounterRule,
  type CounterState,
  clockTolerance,
} from "@accountlink/core/limits";
import type { Millis } from "@accountlink/core/timestamp";
import { Clock, Effect, Layer } from "effect";

/** Counters in memory. The counts are lost when the process ends. */
export const layer: Layer.Layer<Counters> = Layer.effect(
  Counters,
  Effect.map(Clock.currentTimeMillis, (startedAt) => {
    const windows = new Windows(startedAt);
    return Counters.of({
      admit: (rules, now) => Immediate.sync(() => windows.admit(rules, now)),
      read: (rules, now) => Immediate.sync(() => windows.read(rules, now)),
    });
  }),
);

interface Window {
  count: number;
  readonly resetsAt: Millis;
}

type Rules = ReadonlyArray<CounterRule>;

/** Each new window checks this many others, and drops the ended ones. If it checked only one, they would pile up. */
const sweepStep = 2;

/** Counts requests in fixed windows, and drops ended windows when new ones start. */
export class Windows {
  readonly #startedAt: Millis;
  readonly #windows = new Map<string, Window>();
  #sweep = this.#windows.entries();

  /** @param startedAt when counting started, by the same clock as `now` in later calls */
  constructor(startedAt: Millis) {
    this.#startedAt = startedAt;
  }

  /** The number of windows, including ended ones that are not dropped yet. */
  get size(): number {
    return this.#windows.size;
  }

  /**
   * Counts a request in the windows of all rules. Counts it in none if a window is full, or if a window may have
   * begun before these counters started, and its count is unknown.
   */
  admit(rules: Rules, now: Millis): Admission {
    const forgotten = this.#forgotten(rules, now);
    if (forgotten.length > 0) return { admitted: false, states: this.read(rules, now), forgotten };
    for (const rule of rules) if (rule.checkpoint !== undefined) this.#restore(rule, rule.checkpoint, now);
    const admitted = rules.every(({ key, limit }) => (this.#find(key, now)?.count ?? 0) < limit);
    return {
      admitted,
      states: admitted ? rules.map((rule) => this.#count(rule, now)) : this.read(rules, now),
    };
  }

  read(rules: Rules, now: Millis): ReadonlyArray<CounterState> {
    return rules.map(({ key, durationMs }) => {
      const window = this.#find(key, now);
      return window === undefined ? { count: 0, resetsAt: now + durationMs } : stateOf(window);
    });
  }

  #forgotten(rules: Rules, now: Millis): ReadonlyArray<number> {
    return rules.flatMap(({ key, checkpoint }, i) =>
      checkpoint?.floor === null &&
      checkpoint.since < this.#startedAt + clockTolerance &&
      this.#find(key, now) === undefined
        ? [i]
        : [],
    );
  }

  #restore({ key, durationMs }: CounterRule, { floor, unsynced }: Checkpoint, now: Millis): void {
    if (floor === null && unsynced === 0) return;
    const window = this.#find(key, now) ?? this.#begin(key, now, now + durationMs);
    if (window.resetsAt === now + durationMs) window.count = Math.max(window.count, floor ?? 0) + unsynced;
  }

  #find(key: string, now: Millis): Window | undefined {
    const window = this.#windows.get(key);
    return window !== undefined && now < window.resetsAt ? window : undefined;
  }

  #count({ key, durationMs }: CounterRule, now: Millis): CounterState {
    const window = this.#find(key, now) ?? this.#begin(key, now, now + durationMs);
    window.count++;
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
