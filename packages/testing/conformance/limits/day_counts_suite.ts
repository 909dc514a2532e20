import type { StoragePorts } from "@accountlink/core";
import { type DayCount, DayCounts } from "@accountlink/core/limits";
import { Clock, Effect } from "effect";
import { uniqueText } from "../../mod.ts";
import { expectEqual } from "../expect.ts";
import { atOnce } from "../scopes.ts";
import type { Cases } from "../suite.ts";

const minute = 60_000;
type Window = Pick<DayCount, "key" | "endsAt">;

const newWindow = Effect.map(
  Clock.currentTimeMillis,
  (now): Window => ({ key: uniqueText(), endsAt: now + minute }),
);

const countOf = (window: Window, counted: number): DayCount => ({ ...window, counted });

/** Returns the saved count of each window; null for a window that `load` does not return. */
const loadOf = Effect.fnUntraced(function* (windows: ReadonlyArray<Window>, now = 0) {
  const saved = yield* (yield* DayCounts).load(now);
  return windows.map(
    ({ key, endsAt }) => saved.find((count) => count.key === key && count.endsAt === endsAt)?.counted ?? null,
  );
});

export const dayCountCases: Cases<StoragePorts> = {
  "concurrent saves lose no count": function* () {
    const { save } = yield* DayCounts;
    const windows = yield* Effect.all([newWindow, newWindow, newWindow]);
    const saves = Array.from({ length: 30 }, (_, i) =>
      save(
        (i % 2 === 0 ? windows : windows.toReversed()).map((window) => countOf(window, i + 1)),
        0,
      ),
    );
    yield* Effect.all(saves, atOnce);
    expectEqual(yield* loadOf(windows), [30, 30, 30]);
  },

  "one save takes thousands of windows": function* () {
    const { save } = yield* DayCounts;
    const { endsAt } = yield* newWindow;
    const prefix = uniqueText();
    const windows = Array.from({ length: 2_000 }, (_, i) => ({ key: `${prefix} ${i}`, endsAt }));
    yield* save(
      windows.map((window, i) => countOf(window, i + 1)),
      0,
    );
    expectEqual(
      yield* loadOf(windows),
      windows.map((_, i) => i + 1),
    );
  },
};
