import { CountLedger, type LedgerCount, type LedgerWindow } from "@accountlink/core/limits";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect } from "effect";
import { countLedgerSuite } from "../mod.ts";
import { detectMistakes } from "../test_mistakes.ts";

type Shape = CountLedger["Service"];

/** The ledger with changed windows. */
const withWindows = (ledger: Shape, change: (window: LedgerWindow) => LedgerWindow): Partial<Shape> => ({
  saveCounts: (counts, now) =>
    ledger.saveCounts(
      counts.map((count): LedgerCount => ({ ...count, ...change(count) })),
      now,
    ),
  loadCounts: (windows) => ledger.loadCounts(windows.map(change)),
});

/** Mistakes of an adapter, by the case that must detect them. */
detectMistakes(countLedgerSuite, StorageMemory.layer, CountLedger, {
  "a node is live from its renewal until its deadline": (ledger) => ({
    renewNode: (nodeId, until, now) => ledger.renewNode(nodeId, until, now - 1),
  }),
  "the highest saved count wins: repeated and late saves change nothing": (ledger) => {
    const saved = new Map<string, number>();
    return {
      saveCounts: (counts, now) => {
        for (const { key, endsAt, counted } of counts) saved.set(`${endsAt} ${key}`, counted);
        return ledger.saveCounts(counts, now);
      },
      loadCounts: (windows) =>
        Effect.succeed(windows.map(({ key, endsAt }) => saved.get(`${endsAt} ${key}`) ?? 0)),
    };
  },
  "an unknown window is 0, and windows of one key differ by their ends": (ledger) =>
    withWindows(ledger, (window) => ({ ...window, endsAt: Number.MAX_SAFE_INTEGER })),
  "a load with a duplicate window answers both": (ledger) => ({
    loadCounts: (windows) => ledger.loadCounts([...new Set(windows)]),
  }),
  "ended windows are deleted": (ledger) => ({ saveCounts: (counts) => ledger.saveCounts(counts, 0) }),
  "keys keep every Unicode text distinct; unstorable text is a defect": (ledger) =>
    withWindows(ledger, (window) => ({ ...window, key: window.key.normalize() })),
});
