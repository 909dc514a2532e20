import { describe, expect, it } from "vitest";
import { csvRow } from "./csv.ts";

describe("csvRow", () => {
  it("quotes what would break a line", () => {
    expect(csvRow(['say "hi"', "x,y\nz"])).toBe('"say ""hi""","x,y\nz"');
  });

  it.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "  =1", "\r=1", "＝1"])(
    "lets no formula through: %j",
    (text) => {
      expect(csvRow([text]).replaceAll('"', "")).toMatch(/^'/);
    },
  );

  it("leaves numbers and missing values alone", () => {
    expect(csvRow([-1, null])).toBe("-1,");
  });
});
