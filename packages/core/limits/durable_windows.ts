/** Durable windows, and what this node admitted in them without telling the shared counters. */
import type { Millis } from "../timestamp.ts";
import type { LedgerWindow } from "./count_ledger.ts";
import type { CounterRule } from "./counters.ts";

export type DurableRule = CounterRule & { readonly since: Millis };

/** Whether the count of a window has to survive a loss of the counters. */
export const isDurable = (rule: CounterRule): rule is DurableRule => rule.since !== undefined;

export const ledgerWindow = ({ key, durationMs }: CounterRule, now: Millis): LedgerWindow => ({
  key,
  endsAt: now + durationMs,
});

/** Admitted requests that the shared counters do not know of yet. */
export class UnsyncedCounts {
  readonly #counts = new Map<string, { readonly endsAt: Millis; amount: number }>();

  add({ key, endsAt }: LedgerWindow, amount: number): void {
    if (amount === 0) return;
    const known = this.#counts.get(key);
    if (known?.endsAt === endsAt) known.amount += amount;
    else this.#counts.set(key, { endsAt, amount });
  }

  of({ key, endsAt }: LedgerWindow): number {
    const known = this.#counts.get(key);
    return known?.endsAt === endsAt ? known.amount : 0;
  }

  take(window: LedgerWindow): number {
    if (this.#counts.size === 0) return 0;
    const amount = this.of(window);
    this.#counts.delete(window.key);
    return amount;
  }
}
