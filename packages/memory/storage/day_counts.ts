import { DayCounts } from "@accountlink/core/limits";
import { assertStorable } from "@accountlink/core/storable_text";
import { layerOf } from "./state.ts";

/** Each save of counts also drops the windows that have ended. */
export const layer = layerOf(DayCounts, ({ dayCounts }) => ({
  save: (counts, now) => {
    assertStorable(counts.map(({ key }) => key));
    for (const [name, { endsAt }] of dayCounts) if (endsAt <= now) dayCounts.delete(name);
    for (const count of counts) {
      const name = `${count.endsAt} ${count.key}`;
      if (count.counted > (dayCounts.get(name)?.counted ?? 0)) dayCounts.set(name, count);
    }
  },

  load: (now) => [...dayCounts.values()].filter(({ endsAt }) => endsAt > now),
}));
