/**
 * Runs the programs of docs/client.md against a server, and compares its tables with the sources.
 * `code_examples_test.ts` compiles the programs.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type CallOptions, type ClientOptions, createClient, type WriteOptions } from "@accountlink/client";
import { routes } from "@accountlink/http-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { useContractServer } from "../contract/contract_server.ts";
import { blocksOf, codeOf, readDocument, rowsUnder } from "./document.ts";

const run = promisify(execFile);
const modules = fileURLToPath(new URL("../../node_modules", import.meta.url));
const document = readDocument("docs/client.md");
const { fixtures, url } = useContractServer({ ACCOUNTLINK_POLL_INTERVAL: "0 seconds" });

describe("the programs in docs/client.md", () => {
  const programs = blocksOf(document).filter(({ language }) => language === "typescript");
  const key = fixtures.key();
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "accountlink-client-docs-"));
    await symlink(modules, join(folder, "node_modules"));
    await writeFile(join(folder, "package.json"), '{"type":"module"}');
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("docs/client.md has five programs", () => {
    expect(programs).toHaveLength(5);
  });

  it.each(programs.map(({ text }, index) => [index, text] as const))(
    "program %i prints its documented output",
    async (index, text) => {
      const file = join(folder, `program_${index}.ts`);
      await writeFile(file, text);
      const env = { ...process.env, ACCOUNTLINK_URL: url(), ACCOUNTLINK_KEY: key };
      const { stdout } = await run(process.execPath, [file], { env });
      const said = [...text.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].flatMap(([, lines]) =>
        lines?.split(", then "),
      );
      expect(said).not.toEqual([]);
      expect(stdout.trimEnd().split("\n")).toEqual(said);
    },
  );
});

describe("the tables in docs/client.md", () => {
  const rows = rowsUnder(document, ["method", "route", "answers with"]);

  it("docs/client.md lists every route", () => {
    const v2 = routes.filter(({ generation }) => generation === "v2");
    expect(rows.map(([, route]) => codeOf(route)).toSorted()).toEqual(
      v2.map(({ method, path }) => `${method} ${path}`).toSorted(),
    );
  });

  it("docs/client.md names every method", () => {
    const client = createClient({ url: "" });
    const methods = Object.entries(client).flatMap(([group, members]: [string, object]) =>
      Object.keys(members).map((method) => `${group}.${method}`),
    );
    const named = [...document.matchAll(/`(\w+\.\w+)\(/g)].map(([, method = ""]) => method);
    expect([...new Set(named)].toSorted()).toEqual(methods.toSorted());
  });

  it("docs/client.md lists every option", () => {
    const options: Readonly<Record<keyof (CallOptions & WriteOptions & ClientOptions), true>> = {
      timeout: true,
      retryFor: true,
      onAnswer: true,
      signal: true,
      idempotencyKey: true,
      fetch: true,
      // The programs show these two.
      url: true,
      key: true,
    };
    const documented = rowsUnder(document, ["option", "default", "is"]).map(([option]) => codeOf(option));
    expect([...documented, "url", "key"]).toEqual(Object.keys(options));
  });
});
