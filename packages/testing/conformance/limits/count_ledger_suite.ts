import type { StoragePorts } from "@accountlink/core";
import { CountLedger, type LedgerCount, type LedgerWindow } from "@accountlink/core/limits";
import { Clock, Effect } from "effect";
import { hostileTexts, uniqueText, unstorableTexts } from "../../mod.ts";
import { expectDefect, expectEqual } from "../expect.ts";
import { type Cases, type SuiteOptions, suite } from "../suite.ts";

const minute = 60_000;
const atOnce = { concurrency: "unbounded" } as const;

const newWindow = Effect.map(
  Clock.currentTimeMillis,
  (now): LedgerWindow => ({ key: uniqueText(), endsAt: now + minute }),
);

const countOf = (window: LedgerWindow, counted: number): LedgerCount => ({ ...window, counted });

const nodes: Cases<StoragePorts> = {
  "a node is live from its renewal until its deadline": Effect.gen(function* () {
    const ledger = yield* CountLedger;
    const [one, other] = [uniqueText(), uniqueText()];
    // `renewNode` counts all live nodes. Use a time one day ahead, when the nodes of other cases are no longer live.
    const now = (yield* Clock.currentTimeMillis) + 24 * 60 * minute;
    expectEqual(yield* ledger.renewNode(one, now + 10, now), 1);
    expectEqual(yield* ledger.renewNode(other, now + 20, now), 2);
    expectEqual(yield* ledger.renewNode(one, now + 15, now + 9), 2);
    expectEqual(yield* ledger.renewNode(other, now + 30, now + 14), 2);
    expectEqual(yield* ledger.renewNode(other, now + 30, now + 15), 1);
    expectEqual(yield* ledger.renewNode(other, now + 16, now + 16), 0);
  }),

  "concurrent renewals count all nodes": Effect.gen(function* () {
    const ledger = yield* CountLedger;
    const now = (yield* Clock.currentTimeMillis) + 48 * 60 * minute;
    const ids = Array.from({ length: 20 }, uniqueText);
    yield* Effect.forEach(ids, (id) => ledger.renewNode(id, now + 10, now), atOnce);
    expectEqual(yield* ledger.renewNode(uniqueText(), now, now), 20);
    yield* Effect.forEach(ids, (id) => ledger.renewNode(id, now, now), atOnce);
    expectEqual(yield* ledger.renewNode(uniqueText(), now, now), 0);
  }),
};

const counts: Cases<StoragePorts> = {
  "the highest saved count wins: repeated and late saves change nothing": Effect.gen(function* () {
    const ledger = yield* CountLedger;
    const [window, other] = [yield* newWindow, yield* newWindow];
    yield* ledger.saveCounts([countOf(window, 5), countOf(other, 1)], 0);
    yield* ledger.saveCounts([countOf(window, 7)], 0);
    yield* ledger.saveCounts([countOf(window, 7)], 0);
    yield* ledger.saveCounts([countOf(window, 6)], 0);
    expectEqual(yield* ledger.loadCounts([other, window]), [1, 7]);
  }),

  "an unknown window counts 0, and windows of one key are distinguished by their ends": Effect.gen(
    function* () {
      const ledger = yield* CountLedger;
      const window = yield* newWindow;
      const next = { ...window, endsAt: window.endsAt + 1 };
      yield* ledger.saveCounts([countOf(window, 3)], 0);
      expectEqual(yield* ledger.loadCounts([next, window]), [0, 3]);
      expectEqual(yield* ledger.loadCounts([]), []);
    },
  ),

  "loadCounts returns a count for each of two equal windows": Effect.gen(function* () {
    const ledger = yield* CountLedger;
    const window = yield* newWindow;
    yield* ledger.saveCounts([countOf(window, 3)], 0);
    expectEqual(yield* ledger.loadCounts([window, window]), [3, 3]);
  }),

  "concurrent saves lose no count": Effect.gen(function* () {
    const ledger = yield* CountLedger;
    const windows = yield* Effect.all([newWindow, newWindow, newWindow]);
    const saves = Array.from({ length: 30 }, (_, i) =>
      ledger.saveCounts(
        (i % 2 === 0 ? windows : windows.toReversed()).map((window) => countOf(window, i + 1)),
        0,
      ),
    );
    yield* Effect.all(saves, atOnce);
    expectEqual(yield* ledger.loadCounts(windows), [30, 30, 30]);
  }),

  "one save and one load take thousands of windows": Effect.gen(function* () {
    const ledger = yield* CountLedger;
    const { endsAt } = yield* newWindow;
    const prefix = uniqueText();
    const windows = Array.from({ length: 2_000 }, (_, i) => ({ key: `${prefix} ${i}`, endsAt }));
    yield* ledger.saveCounts(
      windows.map((window, i) => countOf(window, i + 1)),
      0,
    );
    expectEqual(
      yield* ledger.loadCounts(windows),
      windows.map((_, i) => i + 1),
    );
  }),

  "ended windows are deleted": Effect.gen(function* () {
    const ledger = yield* CountLedger;
    const [over, lasting] = [
      { key: uniqueText(), endsAt: 5 },
      { key: uniqueText(), endsAt: 6 },
    ];
    yield* ledger.saveCounts([countOf(over, 1), countOf(lasting, 1)], 4);
    expectEqual(yield* ledger.loadCounts([over, lasting]), [1, 1]);
    yield* ledger.saveCounts([countOf(yield* newWindow, 1)], 5);
    expectEqual(yield* ledger.loadCounts([over, lasting]), [0, 1]);
  }),

  "keys keep every Unicode text distinct; unstorable text is a defect": Effect.gen(function* () {
    const ledger = yield* CountLedger;
    const { endsAt } = yield* newWindow;
    const prefix = uniqueText();
    const windows = hostileTexts.map((text) => ({ key: `${prefix}${text}`, endsAt }));
    const saved = windows.map((window, i) => countOf(window, i + 1));
    yield* ledger.saveCounts(saved, 0);
    expectEqual(
      yield* ledger.loadCounts(windows),
      saved.map(({ counted }) => counted),
    );
    for (const text of unstorableTexts) {
      yield* expectDefect(ledger.saveCounts([countOf({ key: text, endsAt }, 1)], 0));
      yield* expectDefect(ledger.renewNode(text, 1, 0));
    }
  }),
};

/** Tests a `CountLedger` with the other storage ports. */
export const countLedgerSuite = (options: SuiteOptions<StoragePorts>): void =>
  suite("CountLedger", options, { ...nodes, ...counts });
