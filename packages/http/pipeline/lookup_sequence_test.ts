import { assert, describe, it } from "@effect/vitest";
import { LookupSequence } from "./lookup_sequence.ts";

describe("LookupSequence", () => {
  it("finds lookups alone that come one after the other", () => {
    const sequence = new LookupSequence();
    for (let round = 0; round < 3; round++) {
      const turn = sequence.begin();
      assert.isTrue(turn.isAlone);
      turn.isRefused = false;
    }
  });

  it("finds none of a crowd alone, nor the first after it", () => {
    const sequence = new LookupSequence();
    const crowd = [sequence.begin(), sequence.begin(), sequence.begin()];
    assert.deepStrictEqual(
      crowd.map(({ isAlone }) => isAlone),
      [true, false, false],
    );
    for (const turn of crowd) turn.isRefused = false;
    const [next, after] = [sequence.begin(), sequence.begin()];
    assert.deepStrictEqual([next.isAlone, after.isAlone], [false, false]);
  });

  it("goes on one request after one that was refused, and two after one that was never counted", () => {
    const sequence = new LookupSequence();
    sequence.begin();
    const second = sequence.begin();
    assert.isFalse(second.isAlone);
    second.isRefused = false;
    const third = sequence.begin();
    assert.isFalse(third.isAlone);
    third.isRefused = true;
    const fourth = sequence.begin();
    assert.isFalse(fourth.isAlone);
    fourth.isRefused = false;
    assert.isTrue(sequence.begin().isAlone);
  });
});
