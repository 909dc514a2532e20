import { describe, expect, it } from "vitest";
import { countOf, formatTable } from "./output.ts";

describe("formatTable", () => {
  it("aligns columns and lets no cell move the cursor", () => {
    expect(
      formatTable(
        ["KEY", "NAME", "END"],
        [
          ["a", "x\n\u001B[2Jy", ""],
          ["longer", "", "never"],
        ],
      ),
    ).toBe(["KEY     NAME     END", "a       x··[2Jy", "longer           never"].join("\n"));
  });
});

describe("countOf", () => {
  it("groups digits and knows one from many", () => {
    expect([countOf(0, "line"), countOf(1, "line"), countOf(100_000, "line")]).toEqual([
      "0 lines",
      "1 line",
      "100,000 lines",
    ]);
  });
});
