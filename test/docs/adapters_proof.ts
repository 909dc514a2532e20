/**
 * The engine of docs/adapters.md, which keeps everything in a file. Each commit writes the whole file, so the suites with
 * thousands of commits take minutes.
 */
import { randomUUID } from "node:crypto";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { storageSuites } from "@accountlink/testing/conformance";
import { type Kv, kv } from "accountlink/kv";
import { Effect, Layer } from "effect";
import * as test from "vitest";
import { useFolder } from "../support/folder.ts";
import { blocksOf, readDocument } from "./document.ts";

const folder = useFolder();
const root = join(import.meta.dirname, "../..");
mkdirSync(join(folder, "node_modules"), { recursive: true });
for (const name of ["accountlink", "@accountlink", "effect"])
  symlinkSync(join(root, "test/node_modules", name), join(folder, "node_modules", name));

const program = blocksOf(readDocument("docs/adapters.md")).find(({ text }) => text.includes("const fileKv "));
const lines = program?.text.split("\n") ?? [];
/** The lines of the engine with its imports, up to the line that ends it. */
const engine = lines.slice(0, lines.indexOf("};") + 1);
const path = join(folder, "file_kv.ts");
writeFileSync(path, `${engine.join("\n")}\nexport { fileKv };\n`);
const { fileKv } = (await import(pathToFileURL(path).href)) as { readonly fileKv: (file: string) => Kv };

test.it("the engine on a file has at most 60 lines with its imports", () => {
  test.expect(engine.length).toBeGreaterThan(30);
  test.expect(engine.length).toBeLessThanOrEqual(60);
});

storageSuites({
  name: "File",
  layer: Layer.unwrap(Effect.sync(() => kv(fileKv(join(folder, `${randomUUID()}.json`))))),
  test,
});
