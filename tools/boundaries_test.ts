import { describe, expect, it } from "vitest";
import { violations } from "./boundaries.ts";

const refused = [
  ["packages/core/link.ts", "@accountlink/storage-memory", 'Ask for a port of "packages/core" here'],
  ["packages/http/chat.ts", "@accountlink/storage-sql", "expected packages/core, packages/http-api"],
  ["packages/storage-memory/mod.ts", "@accountlink/conformance", 'provide its layer in "apps/server"'],
  ["packages/http/chat.ts", "@accountlink/core/internal/clock.ts", 'Export what is needed from its "mod.ts"'],
  ["packages/http/chat.ts", "../core/link.ts", 'Import "packages/core" by the name'],
  ["packages/core/link_test.ts", "@accountlink/core", "by its relative path"],
  ["packages/core/link.ts", "node:crypto", "runs in any runtime"],
  ["packages/core/link.ts", "ipaddr.js", 'expected "effect" and nothing else'],
  ["packages/storage-memory/mod.ts", "effect/sql", "kept to packages/storage-sql"],
  ["packages/core/link_test.ts", "effect/http-api/HttpApi", "kept to packages/http-api"],
  ["packages/unheard-of/mod.ts", "effect", 'Add one to "rooms"'],
] as const;

const allowed = [
  ["packages/core/services/bulk.ts", "../link.ts"],
  ["packages/core/link.ts", "effect/Schema"],
  ["packages/core/link_test.ts", "@accountlink/storage-memory"],
  ["packages/core/link_test.ts", "fast-check"],
  ["packages/storage-sql/mod.ts", "effect/sql/SqlClient"],
  ["packages/storage-sql/sqlite_test.ts", "@accountlink/conformance"],
  ["packages/platform-dev/mod.ts", "@accountlink/platform-http"],
  ["packages/platform-dev/mod.ts", "node:http"],
  ["apps/server/main.ts", "@accountlink/storage-sql"],
  ["test/contract_test.ts", "@accountlink/http"],
] as const;

describe("violations", () => {
  it.each(refused)("refuses that %s imports %s", (file, specifier, fix) => {
    const found = violations(file, `\nimport { a } from "${specifier}";\n`);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`${file}:2: Cannot import "${specifier}": `);
    expect(found[0]).toContain(fix);
  });

  it.each(allowed)("allows that %s imports %s", (file, specifier) => {
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
    expect(violations("packages/core/link.ts", source)).toHaveLength(1);
  });

  it.each(['/**\n * import "node:fs";\n */', 'const example = `import "node:fs";`;'])(
    "sees no import in %j",
    (source) => {
      expect(violations("packages/core/link.ts", source)).toEqual([]);
    },
  );
});
