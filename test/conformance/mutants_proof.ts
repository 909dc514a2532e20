/** Runs the conformance suites on every mutant. The list in the package is what this run wrote. */
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { catchOf } from "./catches.ts";
import { mutants } from "./mutants/mod.ts";

const file = resolve(import.meta.dirname, "../../packages/conformance/README.md");

/** The list stands between this line and the next heading. */
const heading = "| mistake | caught by |\n|---|---|\n";

it(`conformance catches at least 95 % of ${mutants.length} mistakes of a store`, async () => {
  const rows: Array<string> = [];
  let caught = 0;
  for (const mutant of mutants) {
    const found = await catchOf(mutant);
    if (found !== null) caught++;
    const where = found === null ? "nothing" : `${found.suite.replace(": ", "")}: ${found.title}`;
    rows.push(`| ${mutant.mistake} | ${where} |\n`);
  }
  console.log(`${caught} of ${mutants.length} mistakes were caught`);
  const [before, after] = readFileSync(file, "utf8").split(heading) as [string, string];
  const listed = after.slice(0, after.indexOf("\n\n") + 1 || undefined);
  const isWriting = process.env["ACCOUNTLINK_WRITE_LISTS"] === "true";
  if (isWriting) writeFileSync(file, before + heading + rows.join("") + after.slice(listed.length));
  // Of several cases, that which a race fails first may be another one next time.
  expect(mistakesIn(isWriting ? rows.join("") : listed)).toEqual(mistakesIn(rows.join("")));
  expect(caught / mutants.length).toBeGreaterThanOrEqual(0.95);
});

const mistakesIn = (list: string): ReadonlyArray<string> =>
  list.split("\n").map((row) => row.split(" | ")[0] ?? "");
