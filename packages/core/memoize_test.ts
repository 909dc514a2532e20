import { assert, it } from "@effect/vitest";
import { memoize } from "./memoize.ts";

it("memoize makes a value once, and again after its cache was emptied", () => {
  const made: Array<string> = [];
  const lengthOf = memoize(2, (text: string) => made.push(text) && text.length);
  assert.deepStrictEqual(["a", "bb", "a", "bb"].map(lengthOf), [1, 2, 1, 2]);
  assert.deepStrictEqual(made, ["a", "bb"]);
  assert.deepStrictEqual(["ccc", "a"].map(lengthOf), [3, 1]);
  assert.deepStrictEqual(made, ["a", "bb", "ccc", "a"]);
});
