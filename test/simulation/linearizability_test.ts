import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Found, findContradiction, type Operation, type Value } from "./linearizability.ts";

type Span = readonly [called: number, answered: number | null];

const read = ([called, answered]: Span, is: Value): Operation => ({
  client: 1,
  called,
  answered,
  found: { is },
});

const write = ([called, answered]: Span, wrote: Value, previous: Value = null): Operation => ({
  client: 2,
  called,
  answered,
  found: answered === null ? null : { is: previous },
  wrote,
});

const later =
  (by: number) =>
  (operation: Operation): Operation => ({
    ...operation,
    called: operation.called + by,
    answered: operation.answered === null ? null : operation.answered + by,
  });

describe("findContradiction accepts", () => {
  test.each<[what: string, history: ReadonlyArray<Operation>]>([
    ["nothing", []],
    [
      "one thing after the other",
      [write([0, 1], "a"), read([2, 3], "a"), write([4, 5], null, "a"), read([6, 7], null)],
    ],
    ["either value while a write is under way", [write([0, 10], "a"), read([1, 2], null), read([3, 4], "a")]],
    [
      "writes in another order than they were sent",
      [write([0, 10], "a", "b"), write([1, 9], "b"), read([11, 12], "a")],
    ],
    [
      "a write without an answer that never happened",
      [write([0, null], "a"), read([1, 2], null), read([3, 4], null)],
    ],
    [
      "one that happened late",
      [write([0, null], "a"), read([1, 2], null), read([30, 40], "a"), write([50, 60], "b", "a")],
    ],
    [
      "two that happened",
      [write([0, null], "a"), write([0, null], "b"), read([1, 2], "b"), read([3, 4], "a")],
    ],
    [
      "one that happened in time, and was found late",
      [{ ...write([0, null], "a"), until: 10 }, read([30, 40], "a")],
    ],
    ["one that was written over", [write([0, null], "a"), write([1, 2], "b", "a"), read([3, 4], "b")]],
  ])("%s", (_, history) => {
    expect(findContradiction(history, null)).toBeNull();
  });
});

describe("findContradiction rejects", () => {
  const before = [write([0, 1], "a"), read([2, 3], "a")];
  test.each<[what: string, history: ReadonlyArray<Operation>, smallest: ReadonlyArray<Operation>]>([
    [
      "a stale read",
      [...before, write([4, 5], "b", "a"), read([6, 7], "b"), read([8, 9], "a"), read([10, 11], "b")],
      [read([6, 7], "b"), read([8, 9], "a")],
    ],
    [
      "a lost write",
      [...before, write([4, 5], "b", "a"), write([6, 7], "c", "a")],
      [write([4, 5], "b", "a"), write([6, 7], "c", "a")],
    ],
    [
      "a previous value that was not there",
      [...before, write([4, 5], "b", "x")],
      [read([2, 3], "a"), write([4, 5], "b", "x")],
    ],
    [
      "the new value and then the old one, while the write is under way",
      [...before, write([4, 9], "b", "a"), read([5, 6], "b"), read([7, 8], "a")],
      [write([4, 9], "b", "a"), read([5, 6], "b"), read([7, 8], "a")],
    ],
    [
      "an unanswered write that happened twice",
      [write([0, null], "b"), ...before, read([4, 5], "b"), write([6, 7], "c", "b"), read([8, 9], "b")],
      [write([0, null], "b"), read([2, 3], "a"), write([6, 7], "c", "b"), read([8, 9], "b")],
    ],
    [
      "an unanswered write that happened before it was sent",
      [...before, read([4, 5], "b"), write([6, null], "b")],
      [read([2, 3], "a"), read([4, 5], "b")],
    ],
    [
      "an unanswered write that happened when it could not any more",
      [{ ...write([0, null], "b"), until: 10 }, ...before.map(later(20)), read([24, 25], "b")],
      [{ ...write([0, null], "b"), until: 10 }, read([22, 23], "a"), read([24, 25], "b")],
    ],
  ])("%s", (_, history, smallest) => {
    expect(findContradiction(history, null)).toEqual(smallest);
  });

  test("a value that was said to be gone", () => {
    const gone: Operation = { client: 1, called: 2, answered: 3, found: { isNot: "a" } };
    const history = [read([-2, -1], null), write([0, 1], "a"), gone, read([4, 5], "a")];
    expect(findContradiction(history, null)).toEqual([write([0, 1], "a"), gone]);
  });
});

/** Tries every order, and every choice of unanswered writes: slow, and hard to get wrong. */
const canHaveHappened = (left: ReadonlyArray<Operation>, value: Value, lastCalled = -1): boolean =>
  left.every(({ answered }) => answered === null) ||
  left.some((next) => {
    const others = left.filter((operation) => operation !== next);
    const mustFollow = others.some(({ answered }) => answered !== null && answered < next.called);
    const isLate = next.answered === null && next.until !== undefined && next.until < lastCalled;
    if (mustFollow || isLate || !fits(next.found, value)) return false;
    const then = Math.max(lastCalled, next.called);
    return canHaveHappened(others, next.wrote === undefined ? value : next.wrote, then);
  });

const fits = (found: Found | null, value: Value): boolean =>
  found === null || ("is" in found ? found.is === value : found.isNot !== value);

const value = fc.constantFrom<Value>(null, "a", "b", "c");
const found = fc.oneof(
  { weight: 4, arbitrary: fc.record({ is: value }) },
  { weight: 1, arbitrary: fc.record({ isNot: value }) },
);
const operation: fc.Arbitrary<Operation> = fc
  .record({
    client: fc.nat(3),
    called: fc.nat(12),
    takes: fc.oneof({ weight: 3, arbitrary: fc.nat(5) }, { weight: 1, arbitrary: fc.constant(null) }),
    found,
    wrote: fc.option(value, { nil: undefined }),
    lasts: fc.option(fc.nat(6), { nil: undefined }),
  })
  .map(({ client, called, takes, found: seen, wrote, lasts }) => ({
    client,
    called,
    answered: takes === null ? null : called + takes,
    ...(lasts === undefined ? {} : { until: called + lasts }),
    found: takes === null ? null : seen,
    ...(wrote === undefined ? {} : { wrote }),
  }));

test("findContradiction agrees with a search through every order, and gives a part that contradicts itself", () => {
  let contradictions = 0;
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 6 }), (history) => {
      const part = findContradiction(history, null);
      expect(part === null).toBe(canHaveHappened(history, null));
      if (part === null) return;
      contradictions++;
      expect(canHaveHappened(part, null)).toBe(false);
    }),
    { numRuns: 3_000 },
  );
  expect(contradictions).toBeGreaterThan(100);
});
