/**
 * The engines of docs/adapters.md, which keep everything in a file and in Postgres. Each commit writes the whole file, so the
 * suites with thousands of commits take minutes.
 */
import { randomUUID } from "node:crypto";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { makePostgresDatabase, whyNoPostgresDatabase } from "@accountlink/test-servers";
import { kvSuite, linkStoreSuite, storageSuites } from "@accountlink/testing/conformance";
import { type Kv, kv } from "accountlink/kv";
import { Effect, Layer, type Scope } from "effect";
import * as test from "vitest";
import { useFolder } from "../support/folder.ts";
import { blocksOf, readDocument } from "./document.ts";

const folder = useFolder();
const root = join(import.meta.dirname, "../..");
mkdirSync(join(folder, "node_modules/@effect"), { recursive: true });
for (const [name, owner] of [
  ["accountlink", "test"],
  ["@accountlink", "test"],
  ["effect", "test"],
  ["@effect/sql-pg", "."],
] as const) {
  symlinkSync(join(root, owner, "node_modules", name), join(folder, "node_modules", name));
}

/** Returns the lines of an engine with its imports, up to the line that ends it, and the module that exports it. */
const engineOf = async (name: string, end: string) => {
  const program = blocksOf(readDocument("docs/adapters.md")).find(({ text }) =>
    text.includes(`const ${name} `),
  );
  const lines = program?.text.split("\n") ?? [];
  const engine = lines.slice(0, lines.indexOf(end) + 1);
  const path = join(folder, `${name}.ts`);
  writeFileSync(path, `${engine.join("\n")}\nexport { ${name} };\n`);
  return { lines: engine.length, module: (await import(pathToFileURL(path).href)) as object };
};

const file = await engineOf("fileKv", "};");
const { fileKv } = file.module as { readonly fileKv: (file: string) => Kv };

test.it("the engine on a file has at most 60 lines with its imports", () => {
  test.expect(file.lines).toBeGreaterThan(30);
  test.expect(file.lines).toBeLessThanOrEqual(60);
});

storageSuites({
  name: "File",
  layer: Layer.unwrap(Effect.sync(() => kv(fileKv(join(folder, `${randomUUID()}.json`))))),
  test,
});

const missing = await whyNoPostgresDatabase();
const { postgresKv } = (await engineOf("postgresKv", "}, Effect.provide(Reactivity.layer));")).module as {
  readonly postgresKv: (url: string) => Effect.Effect<Kv, unknown, Scope.Scope>;
};

test.describe.skipIf(missing !== null)(`an engine on Postgres ${missing ?? ""}`, () => {
  const database = Effect.map(makePostgresDatabase(), ({ url }) => postgresKv(url));
  kvSuite({ name: "Postgres", engine: Effect.flatten(database), test });
  linkStoreSuite({ name: "Postgres", layer: Layer.unwrap(Effect.map(database, kv)), test });
});
