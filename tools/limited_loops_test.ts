import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";
import { expect, test } from "vitest";
import { root } from "./publishable.ts";

/** Returns the calls of loops of Effect with a limit, which `core/limited_loops.ts` replaces. */
const limitedLoops = (file: string): ReadonlyArray<string> => {
  const source = readFileSync(join(root, file), "utf8");
  if (!source.includes("concurrency")) return [];
  const found: Array<string> = [];
  new Visitor({
    CallExpression: ({ callee, arguments: [items, ...rest] }) => {
      const options = rest.at(-1);
      const isLoop =
        callee.type === "MemberExpression" && "name" in callee.object && callee.object.name === "Effect";
      if (!isLoop || items === undefined || options?.type !== "ObjectExpression") return;
      const limit = options.properties.find(
        (property) =>
          property.type === "Property" && "name" in property.key && property.key.name === "concurrency",
      );
      if (limit === undefined || source.slice(limit.start, limit.end).endsWith('"unbounded"')) return;
      found.push(`${file}: ${source.slice(callee.start, callee.end)}`);
    },
  }).visit(parseSync(file, source).program);
  return found;
};

test("no loop of Effect has a limit, since Effect 4.1 can leave an item out", () => {
  const exclude = [
    "packages/core/limited_loops.ts",
    "**/node_modules/**",
    "**/dist/**",
    "**/*_test.ts",
    "**/test_*.ts",
    "packages/testing/**",
  ];
  const files = globSync("{apps,examples,packages}/**/*.ts", { cwd: root, exclude });
  expect(files.flatMap(limitedLoops)).toEqual([]);
});
