import { describe, expect, it, vi } from "vitest";
import { OwnWriteTurn, type TurnNotice, type TurnRequest, WriteTurns } from "./write_turns.ts";

/** Processes that tell each other at once. */
const makeProcesses = (count: number) => {
  const own: Array<OwnWriteTurn> = [];
  const told: Array<`${number} ${TurnNotice | TurnRequest}`> = [];
  const turns = new WriteTurns<number>((writer, notice) => {
    told.push(`${writer} ${notice}`);
    own[writer]?.hear(notice);
  });
  for (let writer = 0; writer < count; writer++) {
    own.push(
      new OwnWriteTurn((request) => {
        told.push(`${writer} ${request}`);
        turns.hear(writer, request);
      }),
    );
  }
  return { turns, told, own: own as [OwnWriteTurn, OwnWriteTurn, ...Array<OwnWriteTurn>] };
};

describe("turns to write", () => {
  it("are asked for once by a process that writes alone", async () => {
    const { told, own } = makeProcesses(2);
    for (let write = 0; write < 100; write++) {
      await own[0].begin();
      own[0].end();
    }
    expect(told).toEqual(["0 wanted", "0 granted"]);
  });

  it("go to another process after the write under way", async () => {
    const { told, own } = makeProcesses(2);
    await own[0].begin();
    let begun = false;
    const other = own[1].begin().then(() => {
      begun = true;
      return begun;
    });
    await new Promise(setImmediate);
    expect(begun).toBe(false);
    own[0].end();
    await other;
    expect(told).toEqual(["0 wanted", "0 granted", "1 wanted", "0 asked", "0 done", "1 granted"]);
  });

  it("alternate between processes that write all the time, and each write ends before the other's begins", async () => {
    const { own } = makeProcesses(2);
    const writes: Array<number> = [];
    let writing = 0;
    const stopAt = performance.now() + 500;
    const run = async (writer: 0 | 1) => {
      while (performance.now() < stopAt) {
        await own[writer].begin();
        expect(++writing).toBe(1);
        await new Promise((resolve) => setTimeout(resolve, 1));
        writing--;
        writes.push(writer);
        own[writer].end();
      }
    };
    await Promise.all([run(0), run(1)]);
    const changes = writes.filter((writer, i) => i > 0 && writer !== writes[i - 1]).length;
    expect(changes).toBeGreaterThan(3);
  });

  it("pass by a process that has ended, whether it wrote or waited", async () => {
    const { turns, told, own } = makeProcesses(3);
    await own[0].begin();
    void own[1].begin();
    const third = own[2]?.begin();
    turns.remove(1);
    turns.remove(0);
    await third;
    expect(told.at(-1)).toBe("2 granted");
  });

  it("are not waited for longer than a second, since the process whose turn it is may be frozen", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const { told, own } = makeProcesses(2);
      await own[0].begin();
      const other = own[1].begin();
      await vi.advanceTimersByTimeAsync(1_000);
      await other;
      own[1].end();
      own[0].end();
      await own[1].begin();
      expect(told.at(-1)).toBe("1 granted");
    } finally {
      vi.useRealTimers();
    }
  });
});
