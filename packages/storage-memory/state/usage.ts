/** The usage of keys, in memory. */
import type { KeyId } from "@accountlink/core";
import { type Millis, startOfDay } from "@accountlink/core/timestamp";
import {
  addUsage,
  type KeyUsage,
  sumUsage,
  type UsageBatch,
  type UsagePeriod,
} from "@accountlink/core/usage";

type KeyPeriod = UsagePeriod & Pick<KeyUsage, "key">;

const nothing = { served: 0, refused: 0, errors: 0 };

/** Usage in periods of one length, by start, key and group. */
class UsagePeriods {
  readonly #periods = new Map<string, KeyPeriod>();

  add(period: KeyPeriod): void {
    const name = `${period.from} ${period.key} ${period.group}`;
    const sum = addUsage(this.#periods.get(name) ?? nothing, period);
    this.#periods.set(name, { ...period, ...sum });
  }

  /** The usage of the keys together, in order. */
  sumOf(keys: ReadonlySet<KeyId>, from: Millis): ReadonlyArray<UsagePeriod> {
    const theirs = [...this.#periods.values()].filter(
      (period) => period.from >= from && keys.has(period.key),
    );
    return sumUsage(theirs);
  }

  /** The usage of each of the keys that have some, in order. */
  byKey(keys: ReadonlySet<KeyId>, from: Millis): ReadonlyMap<KeyId, ReadonlyArray<UsagePeriod>> {
    const found = Array.from(keys, (key) => [key, this.sumOf(new Set([key]), from)] as const);
    return new Map(found.filter(([, periods]) => periods.length > 0));
  }

  forget(before: Millis): void {
    for (const [name, { from }] of this.#periods) if (from < before) this.#periods.delete(name);
  }
}

export class Usage {
  readonly hours = new UsagePeriods();
  readonly days = new UsagePeriods();
  /** The last batch of each meter. */
  readonly meters = new Map<string, Pick<UsageBatch, "sequence" | "hour">>();
}

/** Adds a batch; false if it was added before. */
export const addBatch = (usage: Usage, { meter, sequence, hour, counts }: UsageBatch): boolean => {
  if (sequence <= (usage.meters.get(meter)?.sequence ?? 0)) return false;
  usage.meters.set(meter, { sequence, hour });
  for (const count of counts) {
    usage.hours.add({ ...count, from: hour });
    usage.days.add({ ...count, from: startOfDay(hour) });
  }
  return true;
};
