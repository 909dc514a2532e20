/** Compares the tables of documents with the sources. */
import { globSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  endedStates,
  exampleTime,
  holdingStates,
  type IdForm,
  idForms,
  jsonIdForms,
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
import { formatTimestamp } from "@accountlink/core/timestamp";
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

/** The rows of the groups of variables, which are a table each. */
const rows = operating
  .split(/(?=^\| variable \| default \| for \|$)/m)
  .slice(1)
  .flatMap((part) => rowsUnder(part, ["variable", "default", "for"]));

it("docs/operating.md lists every variable in order, with its purpose", () => {
  expect(rows.map(([name, , purpose]) => [codeOf(name), purpose])).toEqual(
    Object.entries(variables).map(([name, { description }]) => [name, description]),
  );
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

const idRow = ({ written, id }: IdForm, prefix = "") => [
  `${prefix}\`${written}\``,
  id === null ? "left out" : `\`${id}\``,
];

it("docs/switching.md lists the words, times and IDs that readers of link files know", () => {
  const switching = readDocument("docs/switching.md");
  const asked = ["another word", "stops the import, and is asked about"];
  const listOf = (words: Iterable<string>) => quotedList(words).replace("`\\n`", "`\\N`");
  expect(rowsUnder(switching, ["in a column that says that the link holds", "means"])).toEqual([
    [listOf(verifiedWords), "verified"],
    [`${listOf(unverifiedWords)}, nothing`, "not verified: the row is left out"],
    asked,
  ]);
  expect(rowsUnder(switching, ["in a column that says that the link is over", "means"])).toEqual([
    [`${listOf(yesWords)}, a time`, "over: the row is left out"],
    [`${listOf(noWords)}, nothing, a time that is unknown`, "not over"],
    asked,
  ]);
  const names = rowsUnder(switching, ["a column of states", "names"]).map(([, cell]) => cell);
  expect(names).toEqual([holdingStates, endedStates, stateFillers].map(quotedList));
  expect(rowsUnder(switching, ["in a column of times", "means"])).toEqual([
    ...timeForms.map(({ name, examples }) => [
      [name, quotedList(examples)].filter((text) => text !== "").join(": "),
      examples.length === 0 ? "the start of the day in UTC" : `\`${formatTimestamp(exampleTime)}\``,
    ]),
    ['`{"$date": …}` of MongoDB', "its date, or milliseconds since 1970"],
    ['`{"$timestamp": …}` of MongoDB; `_seconds` or `seconds` of Firestore', "its seconds since 1970"],
    [`${listOf(missingTimes)}, nothing`, "unknown"],
    [`${quotedList(zeroTimes)}, in any form`, "unknown"],
    ["`28.09.2024`, `9/28/2024, 2:30 PM`, in UTC if there is no offset", "the only day that it can be"],
    [
      "`04/05/2021`",
      "as the other dates of the column are, if they have one order and the file can be read again; else asked about",
    ],
    ["anything else", "stops the import, and is asked about"],
  ]);
  expect(rowsUnder(switching, ["an ID in a cell or in JSON", "is read as"])).toEqual([
    ...idForms.map((form) => idRow(form)),
    ...jsonIdForms.slice(1).map((form) => idRow(form, "JSON: ")),
  ]);
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
