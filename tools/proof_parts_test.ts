import { globSync } from "node:fs";
import { expect, test } from "vitest";
import { proofParts } from "./proof_parts.ts";
import { root } from "./publishable.ts";

test("every test file is in one part of the proof", () => {
  const files = globSync("{apps,packages,test,tools}/**/*_{test,proof}.ts", {
    cwd: root,
    exclude: ["**/node_modules/**", "**/dist/**"],
  }).filter((file) => file !== "test/servers/is_proof.ts");
  const parts = Object.values(proofParts);
  const partsOf = (file: string) =>
    parts.flatMap(({ files: beginnings }) => beginnings.filter((beginning) => file.startsWith(beginning)));
  expect(files.filter((file) => partsOf(file).length !== 1)).toEqual([]);
});
