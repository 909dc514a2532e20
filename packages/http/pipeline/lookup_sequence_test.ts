import { assert, describe, it } from "@effect/vitest";
import { RequestSequence } from "./request_sequence.ts";

describe("RequestSequence", () => {
  it("finds requests alone that come one after the other", () => {
    const sequence = new RequestSequence();
    for (let round = 0; round < 3; round++) {
      const { turn, isAlone } = sequence.begin();
      assert.isTrue(isAlone);
      turn.isAnswered = true;
    }
  });

  it("finds none of a crowd alone, nor the first after it", () => {
    const sequence = new RequestSequence();
    const crowd = [sequence.begin(), sequence.begin(), sequence.begin()];
    assert.deepStrictEqual(
      crowd.map(({ isAlone }) => isAlone),
      [true, false, false],
    );
    for (const { turn } of crowd) turn.isAnswered = true;
    const [next, after] = [sequence.begin(), sequence.begin()];
    assert.deepStrictEqual([next.isAlone, after.isAlone], [false, false]);
  });

  it("goes on one request after one that was refused, and two after one that was never answered", () => {
    const sequence = new RequestSequence();
    sequence.begin();
    const second = sequence.begin();
    assert.isFalse(second.isAlone);
    second.turn.isAnswered = true;
    const third = sequence.begin();
    assert.isFalse(third.isAlone);
    Object.assign(third.turn, { isAnswered: true, isRefused: true });
    const fourth = sequence.begin();
    assert.isFalse(fourth.isAlone);
    fourth.turn.isAnswered = true;
    assert.isTrue(sequence.begin().isAlone);
  });
});
