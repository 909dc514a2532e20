import { expect, it } from "vitest";
import { blocksOf, readDocument } from "./document.ts";

it("the engine of docs/adapters.md has at most 60 lines with its imports", () => {
  const program = blocksOf(readDocument("docs/adapters.md")).find(({ text }) =>
    text.includes("const fileKv"),
  );
  const lines = program?.text.split("\n") ?? [];
  const end = lines.indexOf("};");
  expect(end).toBeGreaterThan(30);
  expect(end + 1).toBeLessThanOrEqual(60);
});
