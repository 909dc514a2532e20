/**
 * For translators: `npm run languages -- check xx` prints what a language lacks, `record` notes which English message
 * each translation was made from, and `pictures xx` makes pictures of the pages at the width of a phone.
 */
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { linesOf, reportOf, tags, writeRecord } from "./report.ts";

const usage = `Usage: npm run languages -- check [xx]
       npm run languages -- record [xx]
       npm run languages -- pictures xx [folder]`;

const reportsOf = (asked: string | undefined) =>
  (asked === undefined ? tags : [asked]).map((tag) => {
    const report = reportOf(tag);
    if (report === null) throw new Error(`Cannot find packages/pages/languages/${tag}.json`);
    return [tag, report] as const;
  });

const check = (asked: string | undefined): void => {
  for (const [tag, report] of reportsOf(asked)) {
    console.log(linesOf(tag, report).join("\n"));
    if (report.faults.length > 0) process.exitCode = 1;
  }
};

const record = (asked: string | undefined): void => {
  for (const [tag, report] of reportsOf(asked)) {
    writeRecord(tag, report);
    console.log(`${tag}: ${Object.keys(report.record).length} translations, ${report.stale.length} stale`);
  }
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

const [command, tag, folder = "dist/languages"] = process.argv.slice(2);
if (command === "check") check(tag);
else if (command === "record") record(tag);
else if (command === "pictures" && tag !== undefined) pictures(tag, folder);
else {
  console.log(usage);
  process.exitCode = command === "--help" ? 0 : 1;
}
