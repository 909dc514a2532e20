import { describe, expect, it } from "vitest";
import { Windows } from "./counters.ts";

const rule = (key: string, durationMs: number) => ({ key, limit: 1, durationMs });

describe("Windows", () => {
  it("counting requests drops most of the windows that have ended", () => {
    const windows = new Windows(0);
    let largest = 0;
    for (let now = 0; now < 100_000; now++) {
      windows.admit([rule(`client ${now}`, 100)], now);
      largest = Math.max(largest, windows.size);
    }
    expect(largest).toBeLessThan(300);
  });

  it("long windows are kept while short ones are dropped", () => {
    const windows = new Windows(0);
    const lasting = Array.from({ length: 50 }, (_, i) => rule(`day ${i}`, 1_000_000));
    windows.admit(lasting, 0);
    for (let now = 0; now < 10_000; now++) windows.admit([rule(`second ${now}`, 10)], now);
    expect(windows.read(lasting, 10_000)).toEqual(lasting.map(() => ({ count: 1, resetsAt: 1_000_000 })));
    expect(windows.size).toBeLessThan(150);
  });

  it("a request that is refused by one rule starts no window for another rule", () => {
    const windows = new Windows(0);
    windows.admit([rule("full", 100)], 0);
    for (let i = 0; i < 100; i++) windows.admit([rule(`other ${i}`, 100), rule("full", 100)], 1);
    expect(windows.size).toBe(1);
  });

  it("counters report a missing durable window as forgotten unless it began a minute or more after they started", () => {
    const windows = new Windows(1_000_000);
    const lasting = (key: string, since: number) => ({
      ...rule(key, 100),
      checkpoint: { since, floor: null, unsynced: 0 },
    });
    expect(windows.admit([lasting("before", 1_059_999)], 1_060_000)).toMatchObject({ forgotten: [0] });
    expect(windows.admit([lasting("after", 1_060_000)], 1_060_000)).toMatchObject({ admitted: true });
  });
});
