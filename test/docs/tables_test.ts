/** Compares the tables of documents with the sources. */
import { globSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  endedStates,
  holdingStates,
  missingTimes,
  noWords,
  stateFillers,
  timeForms,
  unverifiedWords,
  verifiedWords,
  yesWords,
  zeroTimes,
} from "@accountlink/core/imports";
import { recordTypes } from "@accountlink/core/storage";
import { languages } from "@accountlink/pages/languages";
import { variables } from "@accountlink/server/config";
import type { Variable } from "@accountlink/server/variables";
import { createAccountLink } from "accountlink";
import { sqlite } from "accountlink/sqlite";
import { Option } from "effect";
import { expect, it, onTestFinished } from "vitest";
import { withErrorTables } from "../../tools/guide/error_pages.ts";
import { codeOf, readDocument, rowsUnder } from "./document.ts";

const operating = readDocument("docs/operating.md");
const errors = readDocument("docs/errors.md");

/** The rows of the groups of variables, which are a table each. A row of two variables is about both tiers. */
const rows = operating
  .split(/(?=^\| variable \| default \| for \|$)/m)
  .slice(1)
  .flatMap((part) => rowsUnder(part, ["variable", "default", "for"]))
  .flatMap(([names = "", fallback = "", purpose]) =>
    names.includes(", ")
      ? names.split(", ").map((name, index) => [name, fallback.split(", ")[index], purpose])
      : [[names, fallback, purpose]],
  );

it("docs/operating.md lists every variable in order, with its purpose", () => {
  const purposeOf = (text: string): string =>
    text.replace(/a (?:free|premium) account/, "an account").replace(/a (?:free|premium) key/, "a key");
  const documented = rows.map(([name, , purpose]) => [codeOf(name), purpose]);
  const defined = Object.entries(variables).map(([name, { description }]) => [name, purposeOf(description)]);
  // A row of both tiers puts a premium variable before free ones.
  for (const isPremium of [true, false]) {
    const ofTier = ([name = ""]: ReadonlyArray<string | undefined>) =>
      name.startsWith("ACCOUNTLINK_PREMIUM_") === isPremium;
    expect(documented.filter(ofTier)).toEqual(defined.filter(ofTier));
  }
});

const documentedDefault = (name: string) => rows.find(([first]) => codeOf(first) === name)?.[1] ?? "";
const isNothing = (fallback: unknown): boolean =>
  fallback === null || (typeof fallback === "object" && Object.keys(fallback).length === 0);
const entries = Object.entries<Variable<unknown>>(variables);

it.each(entries.filter(([, { fallback }]) => !isNothing(fallback)))(
  "docs/operating.md states the default of %s",
  (name, { parse, fallback }) => {
    expect(parse(codeOf(documentedDefault(name)))).toEqual(Option.some(fallback));
  },
);

it.each(entries.filter(([, { fallback }]) => isNothing(fallback)))(
  "docs/operating.md describes the default of %s, which is empty",
  (name) => {
    expect(documentedDefault(name)).toMatch(/^[^`]+$/);
  },
);

it("docs/errors.md has the error tables of the contract (`vitest -u` writes them)", async () => {
  await expect(withErrorTables(errors)).toMatchFileSnapshot("../../docs/errors.md");
});

it("docs/languages.md lists the languages with their states (`vitest -u` writes them)", async () => {
  const english = new Intl.DisplayNames("en", { type: "language", languageDisplay: "standard" });
  const lines = Object.entries(languages).map(
    ([tag, { name, state }]) =>
      `| \`${tag}\` | ${name}, ${english.of(tag)} | ${tag === "en" ? "source" : state} |\n`,
  );
  const head = "| tag | language | state |\n|---|---|---|\n";
  const [before = "", after = ""] = readDocument("docs/languages.md").split(head);
  const written = `${before}${head}${lines.join("")}${after.replace(/^(?:\|.*\n)*/, "")}`;
  await expect(written).toMatchFileSnapshot("../../docs/languages.md");
});

const quotedList = (values: Iterable<string>): string =>
  Array.from(values, (each) => `\`${each}\``).join(", ");

it("docs/switching.md lists the words and times that readers of link files know", () => {
  const switching = readDocument("docs/switching.md");
  const listOf = (words: Iterable<string>) => quotedList(words).replace("`\\n`", "`\\N`");
  const [proven, unproven, asked] = ["verified", "not verified", "asked about"];
  expect(
    rowsUnder(switching, ["word", "in a column that says that the link holds", "that it is over"]),
  ).toEqual([
    [listOf(yesWords), proven, "over: the row is left out"],
    [listOf([...verifiedWords].filter((word) => !yesWords.has(word))), proven, asked],
    [`${listOf(noWords)}, nothing`, `${unproven}: the row is left out`, "not over"],
    [listOf([...unverifiedWords].filter((word) => !noWords.has(word))), unproven, asked],
    ["a time", asked, "over, unless it is unknown"],
    ["another", asked, asked],
  ]);
  const names = rowsUnder(switching, ["a column of states", "names"]).map(([, cell]) => cell);
  expect(names).toEqual([holdingStates, endedStates, stateFillers].map(quotedList));
  expect(rowsUnder(switching, ["a time, in UTC if there is no offset", "for example"])).toEqual(
    timeForms.flatMap(({ name, examples: [first] }) => (first === undefined ? [] : [[name, `\`${first}\``]])),
  );
  const text = switching.replaceAll("\n", " ");
  expect(text).toContain(
    `Unknown is the time of ${listOf(missingTimes)}, nothing, and of ${quotedList(zeroTimes)} in any form.`,
  );
});

it("docs/telemetry.md lists every metric that the sources define", () => {
  const sources = globSync("{packages,apps}/**/*.ts", {
    exclude: ["**/node_modules", "packages/*/dist", "**/*_test.ts"],
  });
  const names = sources.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/Metric\.\w+\(\s*"(\w+)"/g)].map(([, name = ""]) => name),
  );
  const documented = rowsUnder(readDocument("docs/telemetry.md"), ["metric", "labels", "counts"]).flatMap(
    ([cell = ""]) => cell.split(", ").map(codeOf),
  );
  expect(documented.toSorted()).toEqual(names.toSorted());
});

const personalData = readDocument("docs/personal_data.md");
const personalHeadings = ["table", "goes with", "a row is deleted"];
const namesIn = (cell = ""): ReadonlyArray<string> =>
  Array.from(cell.matchAll(/`(\w+)`/g), ([, name = ""]) => name);

it("docs/personal_data.md says of every table of the database when a row of it is deleted", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tables-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const secret = crypto.getRandomValues(new Uint8Array(32));
  const al = await createAccountLink({ storage: sqlite(folder), secret, gameUserExists: () => true });
  await al.links.set("100001", "1");
  await al.close();
  const database = new DatabaseSync(join(folder, "accountlink.db"));
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
  database.close();
  const documented = rowsUnder(personalData, personalHeadings).flatMap(([cell]) => namesIn(cell));
  expect(documented.toSorted()).toEqual(tables.map(({ name }) => name));
});

it("docs/personal_data.md says which records go with their user, and with their list", () => {
  const stated = rowsUnder(personalData, personalHeadings).flatMap(([cell, ending]) =>
    namesIn(cell).map((name) => [name, ending] as const),
  );
  for (const { name, isOfScope, ofUser } of recordTypes) {
    const declared = [...(ofUser === null ? [] : ["user"]), ...(isOfScope ? ["list"] : [])].join(", ");
    expect([name, new Map(stated).get(name)]).toEqual([name, declared]);
  }
});
