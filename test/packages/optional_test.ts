/** Which modules need packages that users may leave out. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { entryPointsOf } from "../../tools/entry_points.ts";
import { publishablePackages, root } from "../../tools/publishable.ts";

it("`accountlink/postgres` compiles and loads without `ioredis`: no static import leads there, of a type neither", () => {
  const sources = new Map(
    publishablePackages().flatMap((each) =>
      entryPointsOf(each).map(({ specifier, source }) => [specifier, join(root, each.folder, source)]),
    ),
  );
  const imports = (file: string): ReadonlyArray<string> =>
    [...readFileSync(file, "utf8").matchAll(/^(?:import|export|\}) .*?from "([^"]+)";$/gm)].map(
      ([, name = ""]) => (name.startsWith(".") ? join(dirname(file), name) : (sources.get(name) ?? name)),
    );
  const reached = new Set([sources.get("accountlink/postgres") ?? ""]);
  for (const each of reached) if (each.endsWith(".ts")) for (const found of imports(each)) reached.add(found);
  expect(reached).toContain("@effect/sql-pg");
  expect(reached).not.toContain("ioredis");
});
