import { expect, it } from "vitest";
import { withVersions } from "./newest_effect.ts";

it("only exact versions of the named packages change, and published ranges stay", () => {
  const catalog = `catalog:
  "@effect/sql-pg": 4.0.5
  "@effect/vitest": 4.0.0-rc.118
  effect: 4.1.0
catalogs:
  published:
    effect: ^4.1.0
`;
  const versions = new Map([
    ["effect", "4.2.0"],
    ["@effect/sql-pg", "4.2.1"],
  ]);
  expect(withVersions(catalog, versions)).toBe(
    catalog.replace("effect: 4.1.0", "effect: 4.2.0").replace("4.0.5", "4.2.1"),
  );
});
