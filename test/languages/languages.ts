/**
 * For translators: `npm run languages -- check xx` prints what a language lacks, `record` notes the English
 * messages that have changed, `translated` what was translated again, `kept` that a translation stays, and `pictures xx`
 * makes pictures of the pages at the width of a phone.
 */
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { dashboard, dashboardLinesOf, linesOf, players } from "./report.ts";

const usage = `Usage: npm run languages -- check [xx]
       npm run languages -- record
       npm run languages -- translated xx key...
       npm run languages -- kept xx "why the translation stays" key...
       npm run languages -- pictures xx [folder]`;

const linesAbout = (tag: string): ReadonlyArray<string> => {
  const reports = [
    { report: players.reportOf(tag), catalogue: players, lines: linesOf },
    { report: dashboard.reportOf(tag), catalogue: dashboard, lines: dashboardLinesOf },
  ].flatMap(({ report, ...other }) => (report === null ? [] : [{ report, ...other }]));
  if (reports.length === 0) throw new Error(`Cannot find packages/pages/languages/${tag}.json`);
  if (reports.some(({ report }) => report.faults.length > 0)) process.exitCode = 1;
  return reports.flatMap(({ report, catalogue, lines }) => lines(tag, catalogue, report));
};

const check = (asked: string | undefined): void => {
  for (const tag of asked === undefined ? players.tags : [asked]) {
    console.log(linesAbout(tag).join("\n"));
  }
};

const record = (): string => [...players.record(), ...dashboard.record()].join(", ") || "none";

const markTranslated = (tag: string, keys: ReadonlyArray<string>, because: string | null): void => {
  const kept = [players, dashboard].flatMap((catalogue) => catalogue.markTranslated(tag, keys, because));
  if (kept.length > 0) console.log(`Kept in ${tag}: ${kept.join(", ")} ("${because}")`);
};

/** Runs the browser tests of the language, which keep their pictures. */
const pictures = (tag: string, folder: string): void => {
  const kept = resolve(folder);
  mkdirSync(kept, { recursive: true });
  const vitest = [
    "node_modules/vitest/vitest.mjs",
    "run",
    "--project=node",
    "test/browser/languages_test.ts",
  ];
  const tests = spawn(process.execPath, vitest, {
    stdio: "inherit",
    env: { ...process.env, ACCOUNTLINK_TEST_LANGUAGES: tag, ACCOUNTLINK_TEST_SCREENSHOTS: kept },
  });
  tests.once("exit", (code) => {
    process.exitCode = code ?? 1;
    console.log(`The pictures are in ${kept}`);
  });
};

const [command, tag, ...others] = process.argv.slice(2);
if (command === "check") check(tag);
else if (command === "record") console.log(`Stale in every language: ${record()}`);
else if (command === "translated" && tag !== undefined) markTranslated(tag, others, null);
else if (command === "kept" && tag !== undefined && others[0] !== undefined)
  markTranslated(tag, others.slice(1), others[0]);
else if (command === "pictures" && tag !== undefined) pictures(tag, others[0] ?? "dist/languages");
else {
  console.log(usage);
  process.exitCode = command === "--help" ? 0 : 1;
}
