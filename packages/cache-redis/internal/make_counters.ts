import { type Admission, Counters } from "@accountlink/core";
import { Effect } from "effect";
import { RedisConnections } from "../connections.ts";
import type { ScriptClock } from "./counter_scripts.ts";
import { admitBySlot, readBySlot } from "./slots.ts";
import { generationLife, Windows } from "./windows.ts";

const nothingToCount: Admission = { admitted: true, states: [] };

/** Makes the counters of the connections. */
export const makeCounters = Effect.fnUntraced(function* (clock: ScriptClock) {
  const { commands, prefix, isCluster } = yield* RedisConnections;
  const windows = new Windows({ commands, prefix, clock, isCluster });
  yield* Effect.ignore(windows.renewGeneration()).pipe(
    Effect.delay(generationLife / 3),
    Effect.forever,
    Effect.forkScoped,
  );
  return Counters.of({
    admit: (rules, now) => {
      if (rules.length === 0) return Effect.succeed(nothingToCount);
      if (isCluster) return admitBySlot(windows, rules, now);
      return Effect.map(windows.admit(rules, now), ({ admission }) => admission);
    },
    read: (rules, now) => {
      if (rules.length === 0) return Effect.succeed([]);
      if (isCluster) return readBySlot(windows, rules, now);
      return windows.read(rules, now);
    },
  });
});
