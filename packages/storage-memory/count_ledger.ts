/** The count ledger in memory. */
import { CountLedger, type LedgerWindow, type Millis, type NodeCount } from "@accountlink/core";
import { Effect, Layer } from "effect";
import { type Memory, State } from "./internal/state.ts";
import { assertStorable } from "./internal/storable_text.ts";

/** The nodes and their counts. Windows that are over are dropped whenever counts are saved. */
export const layer: Layer.Layer<CountLedger, never, State> = Layer.effect(
  CountLedger,
  Effect.map(State, (memory) =>
    CountLedger.of({
      renewNode: (nodeId, until, now) => Effect.sync(() => renewNode(memory, nodeId, until, now)),
      saveCounts: (nodeId, counts, now) => Effect.sync(() => saveCounts(memory, nodeId, counts, now)),
      loadCounts: (nodeId, windows) =>
        Effect.sync(() => windows.map((window) => loadCount(memory, nodeId, window))),
    }),
  ),
);

const renewNode = (memory: Memory, nodeId: string, until: Millis, now: Millis): number => {
  assertStorable(nodeId);
  memory.nodes.set(nodeId, until);
  for (const [id, end] of memory.nodes) if (end <= now) memory.nodes.delete(id);
  return memory.nodes.size;
};

const nameOf = ({ key, endsAt }: LedgerWindow): string => `${endsAt} ${key}`;

const saveCounts = (memory: Memory, nodeId: string, counts: ReadonlyArray<NodeCount>, now: Millis): void => {
  assertStorable(nodeId, ...counts.map(({ key }) => key));
  for (const [name, { endsAt }] of memory.windows) if (endsAt <= now) memory.windows.delete(name);
  for (const count of counts) {
    const name = nameOf(count);
    const window = memory.windows.get(name) ?? { endsAt: count.endsAt, byNode: new Map() };
    memory.windows.set(name, window);
    const { counted = 0, own = 0 } = window.byNode.get(nodeId) ?? {};
    window.byNode.set(nodeId, { counted: Math.max(counted, count.counted), own: Math.max(own, count.own) });
  }
};

const loadCount = (memory: Memory, nodeId: string, window: LedgerWindow) => {
  const total = { counted: 0, others: 0 };
  for (const [id, { counted, own }] of memory.windows.get(nameOf(window))?.byNode ?? []) {
    total.counted = Math.max(total.counted, counted);
    if (id !== nodeId) total.others += own;
  }
  return total;
};
