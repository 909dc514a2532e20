/** What an adapter of `CountLedger` must do. */
import { CountLedger, type LedgerWindow, type NodeCount } from "@accountlink/core";
import { Clock, Effect } from "effect";
import { expectDefect, expectEqual } from "./internal/expect.ts";
import type { Storage } from "./internal/storage.ts";
import { hostileTexts, unstorableTexts } from "./internal/texts.ts";
import { type Cases, type SuiteOptions, suite } from "./suite.ts";
import { uniqueText } from "./world.ts";

const minute = 60_000;
const atOnce = { concurrency: "unbounded" } as const;
const nothing = { counted: 0, others: 0 };

/** A window of this test, which is not over. */
const newWindow = Effect.map(
  Clock.currentTimeMillis,
  (now): LedgerWindow => ({ key: uniqueText(), endsAt: now + minute }),
);

const countOf = (window: LedgerWindow, counted: number, own: number): NodeCount => ({
  ...window,
  counted,
  own,
});

const nodes: Cases<Storage> = {
  "a node lives from when it is noted until then": Effect.gen(function* () {
    const ledger = yield* CountLedger;
    const [one, other] = [uniqueText(), uniqueText()];
    // Later than all that other tests note.
    const now = (yield* Clock.currentTimeMillis) + 24 * 60 * minute;
    expectEqual(yield* ledger.renewNode(one, now + 10, now), 1);
    expectEqual(yield* ledger.renewNode(other, now + 20, now), 2);
    expectEqual(yield* ledger.renewNode(one, now + 15, now + 9), 2);
    expectEqual(yield* ledger.renewNode(other, now + 30, now + 14), 2);
    expectEqual(yield* ledger.renewNode(other, now + 30, now + 15), 1);
    expectEqual(yield* ledger.renewNode(other, now + 16, now + 16), 0);
  }),

  "many nodes that are noted at once are all counted": Effect.gen(function* () {
    const ledger = yield* CountLedger;
    const now = (yield* Clock.currentTimeMillis) + 48 * 60 * minute;
    const ids = Array.from({ length: 20 }, uniqueText);
    yield* Effect.forEach(ids, (id) => ledger.renewNode(id, now + 10, now), atOnce);
    expectEqual(yield* ledger.renewNode(uniqueText(), now, now), 20);
    yield* Effect.forEach(ids, (id) => ledger.renewNode(id, now, now), atOnce);
    expectEqual(yield* ledger.renewNode(uniqueText(), now, now), 0);
  }),
};

const counts: Cases<Storage> = {
  "of a window there is the highest that any node was told, and the sum of what the others admitted":
    Effect.gen(function* () {
      const ledger = yield* CountLedger;
      const [window, other] = [yield* newWindow, yield* newWindow];
      const [a, b, c] = [uniqueText(), uniqueText(), uniqueText()];
      yield* ledger.saveCounts(a, [countOf(window, 7, 1), countOf(other, 1, 0)], 0);
      yield* ledger.saveCounts(b, [countOf(window, 5, 2)], 0);
      const load = (node: string) => ledger.loadCounts(node, [other, window]);
      const ofOther = { counted: 1, others: 0 };
      expectEqual(yield* load(a), [ofOther, { counted: 7, others: 2 }]);
      expectEqual(yield* load(b), [ofOther, { counted: 7, others: 1 }]);
      expectEqual(yield* load(c), [ofOther, { counted: 7, others: 3 }]);
    }),

  "a window of which nothing is saved is zeros, and windows of one key are told apart by their ends":
    Effect.gen(function* () {
      const ledger = yield* CountLedger;
      const window = yield* newWindow;
      const next = { ...window, endsAt: window.endsAt + 1 };
      yield* ledger.saveCounts(uniqueText(), [countOf(window, 3, 0)], 0);
      const reader = uniqueText();
      expectEqual(yield* ledger.loadCounts(reader, [next, window]), [nothing, { counted: 3, others: 0 }]);
      expectEqual(yield* ledger.loadCounts(reader, []), []);
    }),

  "what a node knows only grows: a save that is made twice or late changes nothing": Effect.gen(function* () {
    const ledger = yield* CountLedger;
    const window = yield* newWindow;
    const node = uniqueText();
    yield* ledger.saveCounts(node, [countOf(window, 5, 3)], 0);
    yield* ledger.saveCounts(node, [countOf(window, 5, 3)], 0);
    yield* ledger.saveCounts(node, [countOf(window, 6, 2)], 0);
    yield* ledger.saveCounts(node, [countOf(window, 4, 4)], 0);
    expectEqual(yield* ledger.loadCounts(uniqueText(), [window]), [{ counted: 6, others: 4 }]);
  }),

  "racing saves lose nothing": Effect.gen(function* () {
    const ledger = yield* CountLedger;
    const windows = yield* Effect.all([newWindow, newWindow, newWindow]);
    const ids = Array.from({ length: 10 }, uniqueText);
    const saves = ids.flatMap((id) =>
      [1, 2, 3].map((count) =>
        ledger.saveCounts(
          id,
          (count === 2 ? windows : windows.toReversed()).map((window) => countOf(window, count, count)),
          0,
        ),
      ),
    );
    yield* Effect.all(saves, atOnce);
    expectEqual(
      yield* ledger.loadCounts(uniqueText(), windows),
      windows.map(() => ({ counted: 3, others: 30 })),
    );
  }),

  "thousands of windows are one save and one load": Effect.gen(function* () {
    const ledger = yield* CountLedger;
    const { endsAt } = yield* newWindow;
    const prefix = uniqueText();
    const windows = Array.from({ length: 2_000 }, (_, i) => ({ key: `${prefix} ${i}`, endsAt }));
    yield* ledger.saveCounts(
      uniqueText(),
      windows.map((window, i) => countOf(window, i, 0)),
      0,
    );
    const loaded = yield* ledger.loadCounts(uniqueText(), windows);
    expectEqual(
      loaded.map(({ counted }) => counted),
      windows.map((_, i) => i),
    );
  }),

  "windows that are over are forgotten": Effect.gen(function* () {
    const ledger = yield* CountLedger;
    const node = uniqueText();
    const [over, lasting] = [
      { key: uniqueText(), endsAt: 5 },
      { key: uniqueText(), endsAt: 6 },
    ];
    const saved = { counted: 1, others: 0 };
    yield* ledger.saveCounts(node, [countOf(over, 1, 0), countOf(lasting, 1, 0)], 4);
    expectEqual(yield* ledger.loadCounts(node, [over, lasting]), [saved, saved]);
    yield* ledger.saveCounts(node, [countOf(yield* newWindow, 1, 0)], 5);
    expectEqual(yield* ledger.loadCounts(node, [over, lasting]), [nothing, saved]);
  }),

  "keys are texts, told apart to the letter; what not every store can hold is a defect": Effect.gen(
    function* () {
      const ledger = yield* CountLedger;
      const node = uniqueText();
      const { endsAt } = yield* newWindow;
      const prefix = uniqueText();
      const windows = hostileTexts.map((text) => ({ key: `${prefix}${text}`, endsAt }));
      const saved = windows.map((window, i) => countOf(window, i + 1, 0));
      yield* ledger.saveCounts(node, saved, 0);
      const loaded = yield* ledger.loadCounts(node, windows);
      expectEqual(
        loaded.map(({ counted }) => counted),
        saved.map(({ counted }) => counted),
      );
      for (const text of unstorableTexts) {
        yield* expectDefect(ledger.saveCounts(node, [countOf({ key: text, endsAt }, 1, 1)], 0));
        yield* expectDefect(ledger.renewNode(text, 1, 0));
      }
    },
  ),
};

/**
 * Tests the count ledger of a layer, which has the other storage ports as well.
 *
 * @example
 * ```ts
 * import { StorageMemory } from "@accountlink/storage-memory";
 * import * as test from "vitest";
 *
 * countLedgerSuite({ name: "Memory", layer: StorageMemory.layer, test });
 * ```
 */
export const countLedgerSuite = (options: SuiteOptions<Storage>): void =>
  suite("CountLedger", options, { ...nodes, ...counts });
