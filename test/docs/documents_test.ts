/** Compares documents for operators, and the paths in all documents, with the sources. Checks the pictures. */
import { globSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bounds } from "@accountlink/core/turns";
import { routes } from "@accountlink/http-api";
import { storeForms } from "@accountlink/server/store_url";
import { runInProcess } from "@accountlink/server/test_command_line";
import { expect, it, onTestFinished } from "vitest";
import { startServerHere } from "../support/server.ts";
import { codeOf, readDocument, rowsUnder } from "./document.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const operating = readDocument("docs/operating.md");

it("docs/telemetry.md lists the values of the metric label `route` that are not API routes", async () => {
  const server = await startServerHere({ fixture: {} });
  onTestFinished(async () => void (await server.stop()));
  for (const path of [
    "/verify",
    "/dashboard",
    "/me",
    "/docs",
    "/docs/",
    "/guide",
    "/openapi.json",
    "/nowhere",
  ]) {
    await server.send(`GET ${path}`);
  }
  await server.send("OPTIONS /v2/chat");
  await server.send("POST /chat/interactions");
  const { text } = await server.send("GET /metrics");
  const counted = [...text.matchAll(/^accountlink_http_requests_total\{.*?route="(\w+)"/gm)].map(
    ([, route = ""]) => route,
  );
  const row = rowsUnder(readDocument("docs/telemetry.md"), ["metric", "labels", "counts"]).find(
    ([name]) => codeOf(name) === "accountlink_http_requests_total",
  );
  const [, documented = ""] = /, or (.+); `code`/.exec(row?.[2] ?? "") ?? [];
  expect(documented.split(", ").map(codeOf).toSorted()).toEqual([...new Set(counted)].toSorted());
});

it("docs/operating.md lists every form of the URL of a store", () => {
  const documented = rowsUnder(operating, ["URL", "leads to"]).map(([form]) => codeOf(form));
  expect(documented).toEqual(storeForms);
});

const versionIn = (path: string): string => /^(?:\/api)?\/v\d+/.exec(path)?.[0] ?? "";

const versions = new Set(routes.map(({ path }) => versionIn(path)));

it.each(["CHANGELOG.md", "README.md", ...globSync("docs/*.md", { cwd: root })])(
  "all paths in %s have a known version prefix",
  (file) => {
    const named = [...readDocument(file).matchAll(/`(?:[A-Z]+ )?(\/[^`\s]*)`/g)].map(([, path = ""]) => path);
    const found = new Set(named.map(versionIn));
    found.delete("");
    expect([...found].filter((version) => !versions.has(version))).toEqual([]);
  },
);

it("every command that documents name exists, and has the flags with which they write it", async () => {
  const named = ["README.md", ...globSync("docs/*.md", { cwd: root })].flatMap((file) =>
    [...readDocument(file).matchAll(/(?:accountlink -- |`accountlink )([a-z][^`\n#|>&)<]*)/g)].map(
      ([, typed = ""]) => typed.trim(),
    ),
  );
  expect(named).toContain("audit list");
  const problems: Array<string> = [];
  for (const typed of new Set(named)) {
    const [words = ""] = /^(?:[a-z-]+ ?)+?(?=$| (?:--|[A-Z"$/.\d])| \S+[._])/.exec(typed) ?? [typed];
    const { code, stdout } = await runInProcess([...words.trim().split(" "), "--help"], {});
    const flags = [...typed.matchAll(/--[a-z-]+/g)].map(([flag]) => flag);
    if (code !== 0 || flags.some((flag) => !stdout.includes(flag))) problems.push(typed);
  }
  expect(problems).toEqual([]);
});

it("docs/api.md says what fair use is, and docs/operators_day.md the commands against other use", () => {
  const [, rules = ""] = /### Fair use\n([^]*?)\n## /.exec(readDocument("docs/api.md")) ?? [];
  for (const rule of ["more keys", "accounts", "proxies", "scraping", "after a 429"])
    expect(rules).toContain(rule);
  expect(rules).toContain("(operators_day.md#command-line)");
  const commands = readDocument("docs/operators_day.md");
  for (const command of ["keys update", "keys disable", "keys revoke", "accounts suspend"])
    expect(commands).toContain(`\`${command} `);
});

const pictures = globSync("docs/pictures/*.webp", { cwd: root }).toSorted();
const withPictures = ["README.md", ...globSync("docs/*.md", { cwd: root })];

const shownIn = (document: string): ReadonlyArray<readonly [light: string, dark: string]> =>
  [
    ...readFileSync(join(root, document), "utf8").matchAll(
      /<picture><source media="\(prefers-color-scheme: dark\)" srcset="(.*?)"><img alt=".+?" src="(.*?)"><\/picture>/g,
    ),
  ].map(
    ([, dark = "", light = ""]) => [join(dirname(document), light), join(dirname(document), dark)] as const,
  );

it("the first screen of the README has the clone, both commands, the licence and the state", () => {
  const { repository, version } = JSON.parse(readDocument("package.json")) as Record<string, string>;
  const screen = readDocument("README.md").split("\n").slice(0, 24).join("\n");
  for (const said of [
    `git clone ${repository?.replace("github:", "https://github.com/")} && cd accountlink\n`,
    "\nnpm start\n",
    "\n`npm test` runs the tests",
    "[MIT licence](LICENSE)",
    `version ${version}, which is not published yet`,
  ]) {
    expect(screen).toContain(said);
  }
});

const countWords = (files: ReadonlyArray<string>): number =>
  files.flatMap((file) => readDocument(file).split(/\s+/).filter(Boolean)).length;

it("the documents have at most 33,000 words", () => {
  const files = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", ...globSync("docs/*.md", { cwd: root })];
  expect(countWords(files)).toBeLessThanOrEqual(33_000);
});

it("docs/fairness.md names every bound, of which there are 15, in at most 600 words", () => {
  const fairness = readDocument("docs/fairness.md");
  const names = Object.keys(bounds);
  expect(names.filter((name) => !fairness.includes(`\`${name}\``))).toEqual([]);
  expect(names.length).toBeLessThanOrEqual(15);
  expect(countWords(["docs/fairness.md"])).toBeLessThanOrEqual(600);
});

it("the README of each package says in its first three lines for whom it is", () => {
  const others = globSync("packages/*/README.md", { cwd: root }).filter(
    (path) => !/^# \S+\n\nFor /.test(readDocument(path)),
  );
  expect(others).toEqual([]);
});

it("each picture is shown in a document, in a light and a dark version", () => {
  const shown = withPictures.flatMap(shownIn);
  expect([...new Set(shown.flat())].toSorted()).toEqual(pictures);
  for (const [light, dark] of shown) expect(dark).toBe(light.replace("-light.webp", "-dark.webp"));
  const written = withPictures.flatMap((document) =>
    [...readFileSync(join(root, document), "utf8").matchAll(/<img /g)].map(() => document),
  );
  expect(written).toHaveLength(shown.length);
});

it.each(pictures.map((file) => [basename(file), file]))("%s is small enough for a page", (_, file) => {
  expect(statSync(join(root, file)).size).toBeLessThanOrEqual(120_000);
});
