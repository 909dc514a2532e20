import type { Millis } from "../link.ts";
import type { LedgerCount, LedgerWindow, NodeCount } from "../ports/count_ledger.ts";
import type { CounterRule, CounterState } from "../ports/counters.ts";

/** What a node knows of a window whose count has to outlast the counters. The numbers only grow. */
export interface DurableWindow extends LedgerWindow {
  /** The highest count that the shared counters have told this node or, by the ledger, another. */
  counted: number;
  /** How many this node has admitted on its own, and how many of them were in the ledger when it was last read. */
  own: number;
  ownSaved: number;
  /** How many the other nodes have, as far as the ledger knew. */
  others: number;
  /** When the ledger last told of it, and when it was last asked. */
  readAt: Millis;
  askedAt: Millis;
}

/** How many windows are looked at when one begins. More than one, so that dropping outruns beginning. */
const sweepStep = 2;

/** By how much the clocks of nodes may differ. So near to the end of a window they disagree about which one it is. */
export const clockTolerance = 60_000;

/**
 * The windows that a node knows. Up to `maxWindows` are held, and more only while they are unsaved or hold what the node
 * admitted on its own: of the others the ledger knows as much.
 */
export class DurableWindows {
  readonly #maxWindows: number;
  readonly #windows = new Map<string, DurableWindow>();
  readonly #changed = new Set<DurableWindow>();
  #sweep = this.#windows.values();

  constructor(maxWindows: number) {
    this.#maxWindows = maxWindows;
  }

  /** How many windows are held. */
  get size(): number {
    return this.#windows.size;
  }

  /** The windows that know what was not saved yet. */
  get changed(): ReadonlyArray<DurableWindow> {
    return [...this.#changed];
  }

  /** The window of the rule that is under way. */
  at({ key, durationMs }: CounterRule, now: Millis): DurableWindow {
    const known = this.#windows.get(key);
    const endsAt = now + durationMs;
    if (known?.endsAt === endsAt) return known;
    if (known !== undefined) this.#changed.delete(known);
    const window = {
      key,
      endsAt,
      counted: 0,
      own: 0,
      ownSaved: 0,
      others: 0,
      readAt: Number.NEGATIVE_INFINITY,
      askedAt: Number.NEGATIVE_INFINITY,
    };
    this.#windows.set(key, window);
    this.#dropSome(now);
    return window;
  }

  /** Notes a count that the shared counters told, unless it is that of the day before or after. */
  noteCounted(window: DurableWindow, { count, resetsAt }: CounterState): void {
    if (count <= window.counted || Math.abs(resetsAt - window.endsAt) > clockTolerance) return;
    window.counted = count;
    this.#changed.add(window);
  }

  /** Notes how many the node has admitted on its own. */
  noteOwn(window: DurableWindow, own: number): void {
    if (own <= window.own) return;
    window.own = own;
    this.#changed.add(window);
  }

  /** Notes what the ledger told. */
  noteRead(window: DurableWindow, { counted, others }: LedgerCount, now: Millis): void {
    window.counted = Math.max(window.counted, counted);
    window.others = Math.max(window.others, others);
    window.readAt = now;
  }

  /** Notes that the ledger has this of it, and was read since. */
  noteSaved(window: DurableWindow, { counted, own }: NodeCount): void {
    window.ownSaved = own;
    if (window.counted === counted && window.own === own) this.#changed.delete(window);
  }

  // Spread over the requests, as the windows of a cache are.
  #dropSome(now: Millis): void {
    for (let step = 0; step < sweepStep; step++) {
      const { done, value } = this.#sweep.next();
      if (done) this.#sweep = this.#windows.values();
      else if (value.endsAt <= now || this.#isSpare(value)) {
        this.#windows.delete(value.key);
        this.#changed.delete(value);
      }
    }
  }

  #isSpare(window: DurableWindow): boolean {
    return this.#windows.size > this.#maxWindows && window.own === 0 && !this.#changed.has(window);
  }
}
