import { describe, expect, it } from "vitest";
import { csvOf } from "./csv.ts";

describe("csvOf", () => {
  it("quotes what would break a line", () => {
    expect(csvOf(["a", "b"], [['say "hi"', "x,y\nz"]])).toBe('a,b\r\n"say ""hi""","x,y\nz"\r\n');
  });

  it.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "  =1", "\r=1", "＝1"])(
    "lets no formula through: %j",
    (text) => {
      expect(
        csvOf(["a"], [[text]])
          .replaceAll('"', "")
          .split("\r\n")
          .slice(1)
          .join("\r\n"),
      ).toMatch(/^'/);
    },
  );

  it("leaves numbers and missing values alone", () => {
    expect(csvOf(["a", "b"], [[-1, null]])).toBe("a,b\r\n-1,\r\n");
  });
});
