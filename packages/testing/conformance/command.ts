/** The command `accountlink-conformance`: runs the suites of an engine or of all storage ports on what a module exports. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import type { StoragePorts } from "@accountlink/core";
import { StorageMemory } from "@accountlink/memory";
import { Cause, Effect, Layer } from "effect";
import { type KvSuiteOptions, kvSuite } from "./kv/kv_suite.ts";
import type { Connection } from "./outages/connection.ts";
import { storageOutageSuite } from "./outages/outage_suites.ts";
import { type CaseResult, runSuites } from "./run_suites.ts";
import { storageSuites } from "./storage_suites.ts";
import type { TestApi } from "./suite.ts";

const usage = `Usage: accountlink-conformance <module> [options]

The module exports "engine", an Effect that opens an engine of four operations; or
"layer", a Layer of all storage ports; and "outages", the same with "Connection",
if its store can be out of reach; and "maxChanges", if the engine below it has one.

  --only <text>   run the suites whose name contains the text, such as LinkStore
  --runs <count>  random inputs of each property; 100 by default
  --seed <seed>   reproduces a failure of a property, which reports its seed
  --timeout <s>   seconds that a case may take; 60 by default`;

interface AdapterModule {
  readonly engine?: KvSuiteOptions["engine"];
  readonly other?: KvSuiteOptions["other"];
  readonly layer?: Layer.Layer<StoragePorts, unknown>;
  readonly maxChanges?: number;
  readonly outages?: Layer.Layer<StoragePorts | Connection, unknown>;
}

interface Output {
  readonly write: (text: string) => unknown;
}

interface Arguments {
  readonly path: string;
  readonly only: string;
  readonly runs: number;
  readonly seed: number | undefined;
  /** In seconds. */
  readonly timeout: number;
}

/** Parses the arguments; returns a message if they are invalid. */
const argumentsOf = (args: ReadonlyArray<string>): Arguments | string => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      only: { type: "string", default: "" },
      runs: { type: "string", default: "100" },
      seed: { type: "string" },
      timeout: { type: "string", default: "60" },
      help: { type: "boolean" },
    },
  });
  const [path] = positionals;
  if (values.help === true || path === undefined || positionals.length > 1) return usage;
  const { only } = values;
  const [runs, seed] = [Number(values.runs), values.seed === undefined ? undefined : Number(values.seed)];
  if (!Number.isInteger(runs) || runs < 1) return `--runs is "${values.runs}", expected 1 or more`;
  if (seed !== undefined && !Number.isInteger(seed)) return `--seed is "${values.seed}", expected an integer`;
  const timeout = Number(values.timeout);
  if (!(timeout > 0)) return `--timeout is "${values.timeout}", expected more than 0 seconds`;
  return { path, only, runs, seed, timeout };
};

const suitesOf =
  ({ path, runs, seed }: Arguments, { engine, other, layer, maxChanges, outages }: AdapterModule) =>
  (test: TestApi): void => {
    if (engine !== undefined) kvSuite({ name: path, engine, other, test });
    if (layer === undefined) return;
    const random = seed === undefined ? { runs } : { runs, seed };
    storageSuites({ name: path, layer, maxChanges, model: StorageMemory.layer, test, ...random });
    storageOutageSuite(
      outages === undefined
        ? { name: path, test, skip: `the module exports no "outages"` }
        : { name: path, test, layer: outages },
    );
  };

const report = async (results: AsyncIterable<CaseResult>, print: (line: string) => void) => {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  let shown = "";
  for await (const { suite, title, failure, skipped } of results) {
    if (suite !== shown) print(`\n${suite}`);
    shown = suite;
    const outcome = outcomeOf(failure, skipped);
    counts[outcome]++;
    print(`  ${marks[outcome]} ${title}`);
    if (failure !== null) print(indented(failure));
  }
  print(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  return counts;
};

/**
 * Returns the exit code: 1 if a case failed, 2 if the arguments or the adapter's module are invalid, and otherwise 0.
 */
export const runCommand = async (
  args: ReadonlyArray<string>,
  output: Output,
  errors: Output,
): Promise<0 | 1 | 2> => {
  const refuse = (message: string): 2 => {
    errors.write(`${message}\n`);
    return 2;
  };
  const asked = argumentsOf(args);
  if (typeof asked === "string") return refuse(asked);
  const { path, only, timeout } = asked;
  const module = (await import(pathToFileURL(resolve(path)).href)) as AdapterModule;
  if (!Layer.isLayer(module.layer) && !Effect.isEffect(module.engine)) {
    return refuse(`"${path}" exports no "layer" of all storage ports, and no "engine"`);
  }
  const includes = (name: string) => name.includes(only);
  const results = runSuites(suitesOf(asked, module), { includes, timeout: timeout * 1_000 });
  const { passed, failed } = await report(results, (line) => output.write(`${line}\n`));
  if (passed + failed === 0) return refuse(`--only is "${only}", expected a part of the name of a suite`);
  return failed === 0 ? 0 : 1;
};

const marks = { passed: "✓", failed: "✗", skipped: "-" };

const outcomeOf = (failure: unknown, skipped: string | null): keyof typeof marks => {
  if (skipped !== null) return "skipped";
  return failure === null ? "passed" : "failed";
};

const indented = (failure: unknown): string => {
  const text = Cause.pretty(Cause.fail(failure));
  return text.slice(0, 4_000).replaceAll(/^/gm, "      ");
};
