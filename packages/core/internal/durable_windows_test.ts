import { describe, expect, it } from "vitest";
import { DurableWindows } from "./durable_windows.ts";

const rule = (key: string, durationMs = 1_000_000) => ({ key, limit: 1, durationMs, durable: true });

describe("DurableWindows", () => {
  it("holds few windows beyond its bound, however many there are", () => {
    const windows = new DurableWindows(100);
    let largest = 0;
    for (let i = 0; i < 10_000; i++) {
      windows.at(rule(`client ${i}`), 0);
      largest = Math.max(largest, windows.size);
    }
    expect(largest).toBeLessThan(200);
  });

  it("holds few windows that are over", () => {
    const windows = new DurableWindows(1_000_000);
    let largest = 0;
    for (let now = 0; now < 10_000; now++) {
      const window = windows.at(rule(`client ${now}`, 100), now);
      windows.noteCounted(window, { count: 1, resetsAt: window.endsAt });
      largest = Math.max(largest, windows.size);
    }
    expect(largest).toBeLessThan(300);
    expect(windows.changed.length).toBeLessThan(300);
  });

  it("lets go of no window that is unsaved, or that holds what the node admitted on its own", () => {
    const windows = new DurableWindows(10);
    const [unsaved, saved, own] = [rule("unsaved"), rule("saved"), rule("own")].map((each) =>
      windows.at(each, 0),
    ) as [
      ReturnType<DurableWindows["at"]>,
      ReturnType<DurableWindows["at"]>,
      ReturnType<DurableWindows["at"]>,
    ];
    windows.noteCounted(unsaved, { count: 3, resetsAt: unsaved.endsAt });
    windows.noteCounted(saved, { count: 3, resetsAt: saved.endsAt });
    windows.noteSaved(saved, { ...saved });
    windows.noteOwn(own, 2);
    windows.noteSaved(own, { ...own });
    for (let i = 0; i < 1_000; i++) windows.at(rule(`client ${i}`), 0);
    expect(windows.at(rule("unsaved"), 0)).toBe(unsaved);
    expect(windows.at(rule("own"), 0)).toBe(own);
    expect(windows.at(rule("saved"), 0)).not.toBe(saved);
  });

  it("saves again what changed while it was saved", () => {
    const windows = new DurableWindows(10);
    const window = windows.at(rule("a"), 0);
    windows.noteCounted(window, { count: 1, resetsAt: window.endsAt });
    const saving = { ...window };
    windows.noteCounted(window, { count: 2, resetsAt: window.endsAt });
    windows.noteSaved(window, saving);
    expect(windows.changed).toEqual([window]);
    windows.noteSaved(window, { ...window });
    expect(windows.changed).toEqual([]);
  });

  it("takes the count of the day before or after for neither", () => {
    const windows = new DurableWindows(10);
    const window = windows.at(rule("a"), 0);
    for (const resetsAt of [20, window.endsAt + 86_400_000]) {
      windows.noteCounted(window, { count: 9, resetsAt });
    }
    expect(window.counted).toBe(0);
    windows.noteCounted(window, { count: 9, resetsAt: window.endsAt + 200 });
    expect(window.counted).toBe(9);
    expect(windows.at(rule("a", 86_400_000), window.endsAt).counted).toBe(0);
  });
});
