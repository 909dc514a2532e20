import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type Found, findContradiction, type Operation, type Value } from "./linearizability.ts";

/** Tries every order and every choice of unanswered writes: slow, but simple enough to trust. */
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

test("findContradiction agrees with a search of every order, and returns operations that contradict each other", () => {
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

test("findContradiction uses the unanswered write with the earliest deadline first", () => {
  const unanswered = { answered: null, found: null, wrote: "a" };
  const history: ReadonlyArray<Operation> = [
    { client: 0, called: 0, until: 20, ...unanswered },
    { client: 1, called: 1, until: 5, ...unanswered },
    { client: 2, called: 2, answered: 3, found: { is: "a" }, wrote: "b" },
    { client: 2, called: 6, answered: 7, found: { is: "b" } },
    { client: 2, called: 10, answered: 11, found: { is: "a" } },
  ];
  expect(canHaveHappened(history, null)).toBe(true);
  expect(findContradiction(history, null)).toBe(null);
});
