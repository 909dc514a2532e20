/**
 * Runs the programs of docs/client.md against a server, and compares the tables of docs/client.md with the sources.
 * `code_examples_test.ts` compiles the programs.
 */
import { execFile } from "node:child_process";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type CallOptions, type ClientOptions, createClient, type WriteOptions } from "@accountlink/client";
import { routes } from "@accountlink/http-api";
import { whyNoAiohttp } from "@accountlink/test-servers";
import { beforeAll, describe, expect, it } from "vitest";
import { pythonWithClient } from "../client/python.ts";
import { useContractServer } from "../contract/contract_server.ts";
import { useFolder } from "../support/folder.ts";
import { blocksOf, codeOf, readDocument, rowsUnder } from "./document.ts";

const run = promisify(execFile);
const modules = fileURLToPath(new URL("../../node_modules", import.meta.url));
const document = readDocument("docs/client.md");
const { fixtures, url } = useContractServer({ ACCOUNTLINK_POLL_INTERVAL: "0 seconds" });

describe("the programs in docs/client.md", () => {
  const programs = blocksOf(document).filter(({ language }) => language === "typescript");
  const key = fixtures.key();
  const folder = useFolder();
  beforeAll(async () => {
    await symlink(modules, join(folder, "node_modules"));
    await writeFile(join(folder, "package.json"), '{"type":"module"}');
  });

  it("docs/client.md has four programs in TypeScript", () => {
    expect(programs).toHaveLength(4);
  });

  it.each(programs.map(({ text }, index) => [index, text] as const))(
    "TypeScript program %i of docs/client.md prints its documented output",
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

const noAiohttp = await whyNoAiohttp();

describe.skipIf(noAiohttp !== null)(`the programs in Python ${noAiohttp ?? ""}`, () => {
  const programs = [document, readDocument("clients/python/README.md")]
    .flatMap(blocksOf)
    .filter(({ language }) => language === "python");
  const key = fixtures.key({ links: { 100001: "1" } });

  it("docs/client.md and the README of the Python package have three programs in Python", () => {
    expect(programs).toHaveLength(3);
  });

  it.each(programs.map(({ text }) => text))(
    "a documented Python program prints its output: %s",
    async (text) => {
      const { file, env } = await pythonWithClient();
      const program = text.replace("https://links.example", url()).replace("alk_…", key);
      const variables = { ...env, ACCOUNTLINK_URL: url(), ACCOUNTLINK_KEY: key };
      const { stdout } = await run(file, ["-c", program], { env: variables });
      const said = [...text.matchAll(/print\(.*\) {2}# (.*)$/gm)].map(([, line]) => line);
      expect(stdout.trimEnd().split("\n")).toEqual(said.length === 0 ? ["1"] : said);
    },
  );
});

describe("the tables in docs/client.md", () => {
  const rows = rowsUnder(document, ["method", "route"]);

  it("docs/client.md lists every route", () => {
    const v2 = routes.filter(({ generation }) => generation === "v2");
    expect(rows.map(([, route]) => codeOf(route)).toSorted()).toEqual(
      v2.map(({ method, path }) => `${method} ${path}`).toSorted(),
    );
  });

  it("docs/client.md names every method", () => {
    const client = createClient({ url: "http://links.example" });
    const methods = Object.entries(client).flatMap(([group, members]: [string, object]) =>
      Object.keys(members).map((method) => `${group}.${method}`),
    );
    const named = [...document.matchAll(/`(\w+\.\w+)\(/g)].map(([, method = ""]) => method);
    const ofGroups = named.filter((method) => (method.split(".")[0] ?? "") in client);
    expect([...new Set(ofGroups)].toSorted()).toEqual(methods.toSorted());
  });

  it("docs/client.md lists every option of the client and its methods", () => {
    const options: Readonly<Record<keyof (CallOptions & WriteOptions & ClientOptions), true>> = {
      timeout: true,
      retryFor: true,
      onAnswer: true,
      signal: true,
      idempotencyKey: true,
      fetch: true,
      // The table of the document does not list `url` and `key`, because the programs of the document show both.
      url: true,
      key: true,
    };
    const documented = rowsUnder(document, ["option", "default", "is"]).map(([option]) => codeOf(option));
    expect([...documented, "url", "key"]).toEqual(Object.keys(options));
  });
});
