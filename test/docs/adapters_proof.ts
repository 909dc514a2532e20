/**
 * The engine of docs/adapters.md, which keeps everything in a file. Each commit writes the whole file, so the suites with
 * thousands of commits take minutes.
 */
import { randomUUID } from "node:crypto";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { storageSuites } from "@accountlink/testing/conformance";
import { type Kv, kv } from "accountlink/kv";
import { Effect, Layer } from "effect";
import * as test from "vitest";
import { useFolder } from "../support/folder.ts";
import { blocksOf, readDocument } from "./document.ts";

const program = blocksOf(readDocument("docs/adapters.md")).find(({ text }) => text.includes("const fileKv"));
const lines = program?.text.split("\n") ?? [];
const engine = lines.slice(0, lines.indexOf("};") + 1);

const folder = useFolder();
symlinkSync(join(import.meta.dirname, "../node_modules"), join(folder, "node_modules"));
const path = join(folder, "file_kv.ts");
writeFileSync(path, `${engine.join("\n")}\nexport { fileKv };\n`);
const { fileKv } = (await import(pathToFileURL(path).href)) as { readonly fileKv: (file: string) => Kv };

test.it("it has at most 60 lines with its imports", () => {
  test.expect(engine.length).toBeGreaterThan(30);
  test.expect(engine.length).toBeLessThanOrEqual(60);
});

const onFile = {
  name: "File",
  layer: Layer.unwrap(Effect.sync(() => kv(fileKv(join(folder, `${randomUUID()}.json`))))),
  test,
};

storageSuites(onFile);
