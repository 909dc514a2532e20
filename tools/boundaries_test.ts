import { describe, expect, it } from "vitest";
import { violations } from "./boundaries.ts";
import { folderCircles } from "./folder_circles.ts";

const refused = [
  ["packages/core/links/link.ts", "@accountlink/memory", 'Use a port of "core" here'],
  ["packages/http/chat.ts", "@accountlink/sql", "expected core, http-api"],
  [
    "packages/memory/storage/mod.ts",
    "@accountlink/testing/conformance",
    'provide its layer in "apps/server"',
  ],
  ["packages/http/chat.ts", "../core/link.ts", 'Import "core" by the name'],
  ["packages/core/link_test.ts", "@accountlink/core", "by its relative path"],
  ["packages/core/links/link.ts", "node:crypto", "runs on any runtime"],
  ["packages/core/links/link.ts", "ipaddr.js", 'expected "effect" only'],
  ["packages/memory/storage/mod.ts", "effect/sql", "kept to sql"],
  ["packages/core/link_test.ts", "effect/http-api/HttpApi", "kept to http-api"],
  ["examples/chat_bot.ts", "@accountlink/core", "expected client"],
  ["packages/client/mod.ts", "@accountlink/http-api", "expected no other package"],
  ["packages/unknown/mod.ts", "effect", 'Add one to "tools/boundaries.ts"'],
] as const;

const allowed = [
  ["packages/core/links/bulk_lookup.ts", "../link.ts"],
  ["packages/core/links/link.ts", "effect/Schema"],
  ["packages/core/link_test.ts", "@accountlink/memory"],
  ["packages/core/link_test.ts", "fast-check"],
  ["packages/client/contract_test.ts", "@accountlink/http-api"],
  ["packages/sql/mod.ts", "effect/sql/SqlClient"],
  ["packages/sql/sqlite_test.ts", "@accountlink/testing/conformance"],
  ["packages/platforms/dev/mod.ts", "../http/mod.ts"],
  ["packages/platforms/dev/mod.ts", "node:http"],
  ["apps/server/main.ts", "@accountlink/sql"],
  ["test/contract_test.ts", "@accountlink/http"],
  ["test/packages/packages_test.ts", "../../tools/pack.ts"],
  ["examples/recipes/hono/main.ts", "@accountlink/core"],
] as const;

describe("violations", () => {
  it.each(refused)("refuses the import in %s of %s", (file, specifier, fix) => {
    const found = violations(file, `\nimport { a } from "${specifier}";\n`);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`${file}:2: Cannot import "${specifier}": `);
    expect(found[0]).toContain(fix);
  });

  it.each(allowed)("allows the import in %s of %s", (file, specifier) => {
    expect(violations(file, `import { a } from "${specifier}";`)).toEqual([]);
  });

  it.each([
    'import "node:fs";',
    'import type { Stats } from "node:fs";',
    'import {\n  statSync, // "why"\n} from "node:fs";',
    'export * from "node:fs";',
    'export { readFile, writeFile } from "node:fs";',
    'const fs = await import("node:fs");',
  ])("sees the import in %j", (source) => {
    expect(violations("packages/core/links/link.ts", source)).toHaveLength(1);
  });

  it.each(['/**\n * import "node:fs";\n */', 'const example = `import "node:fs";`;'])(
    "sees no import in %j",
    (source) => {
      expect(violations("packages/core/links/link.ts", source)).toEqual([]);
    },
  );
});

describe("folderCircles", () => {
  const circles = (files: Record<string, string>) =>
    folderCircles(
      new Map(
        Object.entries(files).map(([file, imported]) => [file, `import type { A } from "${imported}";`]),
      ),
    );

  const linkWriter = { "packages/core/links/link_writer.ts": "../sessions/session_watch.ts" };

  it("refuses two folders that import each other, types included, and names the fix", () => {
    expect(circles({ ...linkWriter, "packages/core/sessions/session_store.ts": "../links/link.ts" })).toEqual(
      [
        'packages/core: links -> sessions -> links is a circle: "packages/core/links/link_writer.ts" imports "packages/core/sessions/session_watch.ts", "packages/core/sessions/session_store.ts" imports "packages/core/links/link.ts". Move what they share into the folder of its concept, which imports none of them',
      ],
    );
  });

  it("refuses longer circles, in nested folders, and through a file beside the folders", () => {
    const [nested, ...others] = circles({
      "apps/server/commands/keys/keys.ts": "../users/users.ts",
      "apps/server/commands/users/users.ts": "../shared.ts",
      "apps/server/commands/shared.ts": "./keys/key_flags.ts",
    });
    expect(nested).toContain("apps/server/commands: keys -> users -> shared.ts -> keys is a circle");
    expect(others).toEqual([]);
  });

  it.each([
    ["a folder imports another", {}],
    ["a test imports back", { "packages/core/sessions/session_store_test.ts": "../links/link.ts" }],
    [
      "the folder of another package has the name",
      { "packages/http/sessions/routes.ts": "../links/bulk.ts" },
    ],
    ["a file imports one of its folder", { "packages/core/sessions/session_store.ts": "./session_watch.ts" }],
  ])("allows that %s", (_, files) => {
    expect(circles({ ...linkWriter, ...files })).toEqual([]);
  });
});
