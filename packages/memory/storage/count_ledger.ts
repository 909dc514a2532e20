import { CountLedger, type LedgerCount, type LedgerWindow } from "@accountlink/core/limits";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Layer } from "effect";
import { type Memory, State } from "./state/state.ts";

/** Each save of counts also drops the windows that have ended. */
export const layer: Layer.Layer<CountLedger, never, State> = Layer.effect(
  CountLedger,
  Effect.map(State, (memory) =>
    CountLedger.of({
      renewNode: (nodeId, until, now) => Effect.sync(() => renewNode(memory, nodeId, until, now)),
      saveCounts: (counts, now) => Effect.sync(() => saveCounts(memory, counts, now)),
      loadCounts: (windows) =>
        Effect.sync(() => windows.map((window) => memory.windows.get(nameOf(window))?.counted ?? 0)),
    }),
  ),
);

const renewNode = (memory: Memory, nodeId: string, until: Millis, now: Millis): number => {
  assertStorable([nodeId]);
  memory.nodes.set(nodeId, until);
  for (const [id, end] of memory.nodes) if (end <= now) memory.nodes.delete(id);
  return memory.nodes.size;
};

const nameOf = ({ key, endsAt }: LedgerWindow): string => `${endsAt} ${key}`;

const saveCounts = (memory: Memory, counts: ReadonlyArray<LedgerCount>, now: Millis): void => {
  assertStorable(counts.map(({ key }) => key));
  for (const [name, { endsAt }] of memory.windows) if (endsAt <= now) memory.windows.delete(name);
  for (const count of counts) {
    const name = nameOf(count);
    const counted = Math.max(memory.windows.get(name)?.counted ?? 0, count.counted);
    memory.windows.set(name, { endsAt: count.endsAt, counted });
  }
};
