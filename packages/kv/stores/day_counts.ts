import { type DayCount, DayCounts } from "@accountlink/core/limits";
import { assertStorable } from "@accountlink/core/storable_text";
import { Array as Arr, Effect } from "effect";
import { removeInSteps, stepSize } from "../steps.ts";
import { table } from "../table.ts";
import { storeLayer } from "./store_layer.ts";

export const dayCounts = table<DayCount>()("day_count", ({ endsAt, key }) => [endsAt, key], {});

/** Each save of counts also drops the windows that have ended. */
export const layer = storeLayer(DayCounts, (db) => ({
  save: (counts, now) =>
    Effect.gen(function* () {
      assertStorable(counts.map(({ key }) => key));
      yield* removeInSteps(db, dayCounts, [], { before: [now + 1] });
      for (const part of Arr.chunksOf(counts, stepSize)) {
        yield* db.write("day counts", function* (tx) {
          const found = yield* tx.getAll(dayCounts, part, dayCounts.id);
          for (const [index, count] of part.entries()) {
            if (count.counted > (found[index]?.counted ?? 0)) yield* tx.put(dayCounts, count);
          }
        });
      }
    }),

  load: (now) => db.read((tx) => tx.scan(dayCounts, [], { from: [now + 1] })),
}));
