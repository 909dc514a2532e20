import { expect, it, test } from "@accountlink/test-servers/effect";
import { Clock, Effect, Fiber } from "effect";
import { TestClock } from "effect/testing";
import type { Pid } from "../ids.ts";
import { dayMs, hourMs } from "../timestamp.ts";
import { bounds } from "../turns/bounds.ts";
import { BusyTime, WorkingTime, WorkingTimes } from "../turns/working_time.ts";
import type { AuditEntry, AuditFilter } from "./audit.ts";
import { mostSearched, searchEntries } from "./entry_search.ts";

const entriesBefore = (before: number, size: number): ReadonlyArray<AuditEntry> => {
  const first = Math.max(1, before - size);
  return Array.from({ length: Math.max(0, before - first) }, (_, index) => ({
    sequence: before - 1 - index,
    at: (before - 1 - index) * hourMs,
    actor: { type: "operator", id: "ada" },
    requestId: null,
    account: "acme",
    pid: "pid" as Pid,
    action: "link.set",
    details: {},
  }));
};

const sourceOf = (read: (before: number, size: number) => Effect.Effect<ReadonlyArray<AuditEntry>>) => ({
  read,
  entryIn: (entry: AuditEntry) => entry,
  lastBefore: (newest: number) => Effect.succeed(newest),
});

/** Searches a log with an entry each hour, and returns what was found and how many records were read. */
const search = (filter: Partial<AuditFilter>, length: number, limit = 10) => {
  let reads = 0;
  let largest = 0;
  const read = (before: number, size: number) =>
    Effect.sync(() => {
      largest = Math.max(largest, size);
      const found = entriesBefore(before, size);
      reads += found.length;
      return found;
    });
  const all = { action: null, keyId: null, ...filter };
  const page = Effect.runSync(searchEntries("acme", sourceOf(read), length + 1, limit, all));
  return { ...page, reads, largest };
};

it("a filter that selects nothing looks through a bounded number of records, and says where to go on", () => {
  const { entries, next, reads } = search({ action: "key.created" }, 100_000);
  expect([entries, reads]).toEqual([[], next === null ? 0 : 100_001 - next]);
  expect(reads).toBeLessThan(mostSearched + 1_000);
});

it("the entries of a file are read in steps", () => {
  const { entries, next, largest } = search({}, 20_000, 9_000);
  expect(entries.map(({ sequence }) => sequence)).toEqual(
    Array.from({ length: 9_000 }, (_, index) => 20_000 - index),
  );
  expect([next, largest]).toEqual([11_001, 500]);
});

it("records from before the beginning of the time are not read", () => {
  const during = { from: 100_000 * hourMs - dayMs, before: Infinity };
  const { entries, next, reads } = search({ action: "key.created", during }, 100_000);
  expect([entries, next]).toEqual([[], null]);
  expect(reads).toBeLessThan(1_000);
});

it("a page names its last entry as the next one's beginning only if there are older entries", () => {
  expect(search({}, 11)).toMatchObject({ entries: { length: 10 }, next: 2 });
  expect(search({}, 10)).toMatchObject({ entries: { length: 10 }, next: null });
});

test("a long search rests between its steps beside another account", function* () {
  let [busy, steps] = [0, 0];
  const time = { accounts: new WorkingTime(), visits: new WorkingTime() };
  const noteAnother = Effect.map(Clock.currentTimeMillis, (now) => time.accounts.note("another", now));
  const takes = bounds.workedAtOnce / 2;
  const read = Effect.fnUntraced(function* (before: number, size: number) {
    steps++;
    busy += takes;
    yield* noteAnother;
    yield* TestClock.adjust(takes);
    return entriesBefore(before, size);
  });
  const searching = yield* time.accounts
    .pace("acme", searchEntries("acme", sourceOf(read), 100_000, 10, { action: "key.created", keyId: null }))
    .pipe(
      Effect.provideService(WorkingTimes, time),
      Effect.provideService(BusyTime, () => busy),
      Effect.forkChild({ startImmediately: true }),
    );
  const stepsAt = [];
  while (searching.pollUnsafe() === undefined) {
    for (let turn = 0; turn < 100; turn++) yield* Effect.yieldNow;
    stepsAt.push(steps);
    yield* noteAnother;
    yield* TestClock.adjust(bounds.presence / 2);
  }
  expect(stepsAt[0]).toBeLessThan(5);
  expect(stepsAt.length).toBeGreaterThan(5);
  expect((yield* Fiber.join(searching)).entries).toEqual([]);
});
