import type { Admission, CounterRule, CounterState, Millis } from "@accountlink/core";

interface Window {
  count: number;
  readonly resetsAt: Millis;
}

/** How many windows are looked at when one begins. More than one, so that dropping outruns beginning. */
const sweepStep = 2;

/** The windows that count. There are never many more than those that last. */
export class Windows {
  readonly #windows = new Map<string, Window>();
  #sweep = this.#windows.entries();

  /** How many windows are held, those that are over but not yet dropped included. */
  get size(): number {
    return this.#windows.size;
  }

  /** Counts one in every window, or in none when one of them is full. */
  admit(rules: ReadonlyArray<CounterRule>, now: Millis): Admission {
    let raised = false;
    for (const rule of rules) raised = this.#raise(rule, now) || raised;
    const admitted = rules.every(({ key, limit }) => (this.#find(key, now)?.count ?? 0) < limit);
    const states = admitted ? rules.map((rule) => this.#count(rule, now)) : this.read(rules, now);
    return raised ? { admitted, states, raised } : { admitted, states };
  }

  read(rules: ReadonlyArray<CounterRule>, now: Millis): ReadonlyArray<CounterState> {
    return rules.map(({ key, durationMs }) => {
      const window = this.#find(key, now);
      return window === undefined ? { count: 0, resetsAt: now + durationMs } : stateOf(window);
    });
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

  /** Raises a window to its floor, and tells whether it was below. */
  #raise({ key, durationMs, floor = 0 }: CounterRule, now: Millis): boolean {
    if (floor <= 0) return false;
    const window = this.#find(key, now) ?? this.#begin(key, now, now + durationMs);
    if (window.count >= floor || window.resetsAt !== now + durationMs) return false;
    window.count = floor;
    return true;
  }

  #begin(key: string, now: Millis, resetsAt: Millis): Window {
    const window = { count: 0, resetsAt };
    this.#windows.set(key, window);
    this.#dropSomeEnded(now);
    return window;
  }

  // Spread over the requests: a sweep of all windows at once, or a timer for each, would cost a busy service dearly.
  #dropSomeEnded(now: Millis): void {
    for (let step = 0; step < sweepStep; step++) {
      const { done, value } = this.#sweep.next();
      if (done) this.#sweep = this.#windows.entries();
      else if (value[1].resetsAt <= now) this.#windows.delete(value[0]);
    }
  }
}

const stateOf = ({ count, resetsAt }: Window): CounterState => ({ count, resetsAt });
