import { expect, it } from "vitest";
import { style } from "./style.ts";

it("the style names no side by left or right, so that it fits languages from right to left", () => {
  expect(style.match(/[\w-]*\b(?:left|right)\b[^;}]*/g) ?? []).toEqual([]);
});
