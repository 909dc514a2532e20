import { CountLedger, type LedgerCount } from "@accountlink/core/limits";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Layer } from "effect";
import { Database } from "../records/database.ts";
import { nodes, windows } from "../records/schema.ts";
import { stepSize } from "../records/steps.ts";
import type { Transaction } from "../records/transaction.ts";

export const layer: Layer.Layer<CountLedger, never, Database> = Layer.effect(
  CountLedger,
  Effect.map(Database, (db) =>
    CountLedger.of({
      renewNode: (nodeId, until, now) =>
        db.write("CountLedger.renewNode", (tx) => renewNode(tx, nodeId, until, now)),
      saveCounts: (counts, now) => db.write("CountLedger.saveCounts", (tx) => saveCounts(tx, counts, now)),
      loadCounts: (wanted) =>
        db.read("CountLedger.loadCounts", (tx) =>
          Effect.forEach(wanted, ({ endsAt, key }) =>
            Effect.map(windows.find(tx, endsAt, key), (window) => window?.counted ?? 0),
          ),
        ),
    }),
  ),
);

const renewNode = Effect.fnUntraced(function* (tx: Transaction, nodeId: string, until: Millis, now: Millis) {
  yield* nodes.put(tx, { nodeId, until });
  const all = yield* nodes.scan(tx, []);
  const ended = all.filter((node) => node.until <= now);
  for (const node of ended) yield* nodes.remove(tx, node.nodeId);
  return all.length - ended.length;
});

const saveCounts = Effect.fnUntraced(function* (
  tx: Transaction,
  counts: ReadonlyArray<LedgerCount>,
  now: Millis,
) {
  const oldest = yield* windows.scan(tx, [], { limit: counts.length + stepSize });
  for (const { endsAt, key } of oldest) if (endsAt <= now) yield* windows.remove(tx, endsAt, key);
  for (const { key, endsAt, counted } of counts) {
    const saved = (yield* windows.find(tx, endsAt, key))?.counted ?? 0;
    if (counted > saved || saved === 0)
      yield* windows.put(tx, { key, endsAt, counted: Math.max(saved, counted) });
  }
});
