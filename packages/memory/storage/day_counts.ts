import { type DayCount, DayCounts } from "@accountlink/core/limits";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { layerOf, type Memory } from "./state/state.ts";

/** Each save of counts also drops the windows that have ended. */
export const layer = layerOf(DayCounts, (memory) => ({
  save: (counts, now) => save(memory, counts, now),
  load: (now) => Array.from(memory.dayCounts.values()).filter(({ endsAt }) => endsAt > now),
}));

const save = (memory: Memory, counts: ReadonlyArray<DayCount>, now: Millis): void => {
  assertStorable(counts.map(({ key }) => key));
  for (const [name, { endsAt }] of memory.dayCounts) if (endsAt <= now) memory.dayCounts.delete(name);
  for (const count of counts) {
    const name = `${count.endsAt} ${count.key}`;
    const saved = memory.dayCounts.get(name)?.counted ?? 0;
    if (count.counted > saved) memory.dayCounts.set(name, count);
  }
};
