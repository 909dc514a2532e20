/**
 * Counters of requests in memory, an array of numbers for each key.
 */
import type { KeyId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import { type KeyUsage, type UsageGroup, type UsageOutcome, usageGroups, usageOutcomes } from "./usage.ts";
import type { KeyUse, UsageBatch } from "./usage_store.ts";

const groupPlaces = Object.fromEntries(
  usageGroups.map((group, index) => [group, index * usageOutcomes.length]),
) as Record<UsageGroup, number>;
const outcomePlaces: Record<UsageOutcome, number> = { served: 0, refused: 1, errors: 2 };
const lastUsePlace = usageGroups.length * usageOutcomes.length;
const unused = -1;

/** Keys in one page. */
const pageSize = 1_000;

export class KeyCounters {
  /** Of each key: the outcomes of each group in turn, then the time of the last use. */
  readonly #numbers = new Map<KeyId, Float64Array>();

  /** Allocates nothing for a key that was counted since the last but one `take`. */
  count(key: KeyId, group: UsageGroup, outcome: UsageOutcome, at: Millis): void {
    let numbers = this.#numbers.get(key);
    if (numbers === undefined) {
      numbers = new Float64Array(lastUsePlace + 1);
      this.#numbers.set(key, numbers);
    }
    (numbers[groupPlaces[group] + outcomePlaces[outcome]] as number)++;
    numbers[lastUsePlace] = at;
  }

  /** Returns the counts in pages and sets them to zero. Drops keys that were not used. */
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
