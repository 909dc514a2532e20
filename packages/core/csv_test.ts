import { expect, it } from "vitest";
import { csvRow } from "./csv.ts";

it("a row quotes cells that contain separators or line ends", () => {
  expect(csvRow(['say "hi"', "x,y\nz"])).toBe('"say ""hi""","x,y\nz"');
});

it.each(["=1+1", "+1+1", "-A1", "@SUM(A1)", "\t=1", "  =1", "\r=1", "＝1"])(
  "csvRow prefixes the formula %j",
  (text) => {
    expect(csvRow([text]).replaceAll('"', "")).toMatch(/^'/);
  },
);

it("a row keeps a negative number unchanged, and has an empty cell for null", () => {
  expect(csvRow([-1, "-5", "+1.5", null])).toBe("-1,-5,+1.5,");
});
