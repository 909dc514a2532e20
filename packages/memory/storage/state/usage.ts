import type { KeyId } from "@accountlink/core";
import type { Millis } from "@accountlink/core/timestamp";
import {
  addUsage,
  byTimeAndGroup,
  type KeyUsage,
  type UsageBatch,
  type UsagePeriod,
} from "@accountlink/core/usage";

type KeyPeriod = UsagePeriod & Pick<KeyUsage, "key">;

const nothing = { served: 0, refused: 0, errors: 0 };

/** The usage of API keys, by UTC day, key and group of routes. */
export class Usage {
  readonly #periods = new Map<string, KeyPeriod>();
  /** The last batch of each `UsageMeter`, by the meter's ID. */
  readonly #meters = new Map<string, Pick<UsageBatch, "sequence" | "day">>();

  /** Adds a batch. Returns false if it was added before. */
  add({ meter, sequence, day, counts }: UsageBatch): boolean {
    if (sequence <= (this.#meters.get(meter)?.sequence ?? 0)) return false;
    this.#meters.set(meter, { sequence, day });
    for (const count of counts) {
      const name = `${day} ${count.key} ${count.group}`;
      const sum = addUsage(this.#periods.get(name) ?? nothing, count);
      this.#periods.set(name, { ...count, ...sum, from: day });
    }
    return true;
  }

  /** The total usage of the keys, oldest day first. */
  sumOf(keys: ReadonlySet<KeyId>, from: Millis): ReadonlyArray<UsagePeriod> {
    const sums = new Map<string, UsagePeriod>();
    for (const { key, ...period } of this.#periods.values()) {
      if (period.from < from || !keys.has(key)) continue;
      const name = `${period.from} ${period.group}`;
      sums.set(name, { ...period, ...addUsage(sums.get(name) ?? nothing, period) });
    }
    return [...sums.values()].toSorted(byTimeAndGroup);
  }

  /** The usage of each key that has any, oldest day first. */
  byKey(keys: ReadonlySet<KeyId>, from: Millis): ReadonlyMap<KeyId, ReadonlyArray<UsagePeriod>> {
    const found = Array.from(keys, (key) => [key, this.sumOf(new Set([key]), from)] as const);
    return new Map(found.filter(([, periods]) => periods.length > 0));
  }

  forget(before: Millis): void {
    for (const [name, { from }] of this.#periods) if (from < before) this.#periods.delete(name);
    for (const [meter, { day }] of this.#meters) if (day < before) this.#meters.delete(meter);
  }
}
