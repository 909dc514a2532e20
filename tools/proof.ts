/**
 * Runs the proof, or the parts of it that are named: every test with more rounds and larger data, on servers in separate
 * processes, and the long-running tests in `_proof.ts` files. Says at its end which part passed when on which commit.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundleServerOfTests } from "./make_bundle.ts";
import { type ProofPart, type ProofPartName, proofParts } from "./proof_parts.ts";
import { root } from "./publishable.ts";
import { combine, finish, type Results, runVitest } from "./run_vitest.ts";

const names = Object.keys(proofParts) as ReadonlyArray<ProofPartName>;

const usage = `Usage: npm run proof                  every part, for hours
       npm run proof -- faults load   these parts

${names.map((name) => `${name.padEnd(11)} ${proofParts[name].takes.padEnd(11)} ${proofParts[name].proves}`).join("\n")}
`;

const isPart = (name: string): name is ProofPartName => Object.hasOwn(proofParts, name);

const run = async (name: ProofPartName, environment: Readonly<Record<string, string>>): Promise<Results> => {
  if (name === "runtimes")
    return combine([
      await runVitest("Deno", "portable", environment),
      await runVitest("Bun", "portable", environment),
    ]);
  const { files, projects = [] }: ProofPart = proofParts[name];
  const results: Array<Results> = [];
  for (const project of ["node", ...projects, "proof"])
    results.push(await runVitest("Node.js/24", project, environment, files));
  return combine(results);
};

/** The last run of each part on this checkout. */
interface LastRun {
  readonly at: string;
  readonly commit: string;
  readonly minutes: number;
  readonly result: "passed" | "failed";
}

const lastRunsFile = join(root, "node_modules/.cache/proof.json");

const readLastRuns = (): Partial<Record<ProofPartName, LastRun>> => {
  try {
    return JSON.parse(readFileSync(lastRunsFile, "utf8")) as Partial<Record<ProofPartName, LastRun>>;
  } catch {
    return {};
  }
};

const keep = (name: ProofPartName, last: LastRun): void => {
  mkdirSync(join(lastRunsFile, ".."), { recursive: true });
  writeFileSync(lastRunsFile, JSON.stringify({ ...readLastRuns(), [name]: last }, null, 2));
};

const git = (...args: ReadonlyArray<string>): string =>
  execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();

/** Returns the commit, and whether the checkout has changes besides. */
const currentCommit = (): string =>
  git("rev-parse", "--short", "HEAD") + (git("status", "--porcelain") === "" ? "" : " with changes");

const main = async (chosen: ReadonlyArray<ProofPartName>): Promise<void> => {
  const results: Array<Results> = [];
  const environment = { ACCOUNTLINK_TEST_PROOF: "1", ACCOUNTLINK_TEST_PROGRAM: await bundleServerOfTests() };
  for (const name of chosen) {
    const [commit, started] = [currentCommit(), performance.now()];
    const ended = await run(name, environment);
    const minutes = Math.ceil((performance.now() - started) / 60_000);
    const result = ended.failures.length === 0 ? "passed" : "failed";
    keep(name, { at: new Date().toISOString(), commit, minutes, result });
    results.push(ended);
  }
  const lastRuns = readLastRuns();
  for (const name of names) {
    const last = lastRuns[name];
    const said =
      last === undefined
        ? "never run here"
        : `${last.result} ${last.at.slice(0, 16).replace("T", " ")} UTC on ${last.commit}, ${last.minutes} min`;
    console.log(`${name.padEnd(11)} ${said}`);
  }
  finish(combine(results));
};

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !isPart(name));
if (unknown.length === 0) await main(chosen.length === 0 ? names : chosen.filter(isPart));
else {
  const isHelp = unknown.includes("--help");
  console.log(isHelp ? usage : `Cannot run the proof: no part is called "${unknown[0]}"\n\n${usage}`);
  process.exitCode = isHelp ? 0 : 1;
}
