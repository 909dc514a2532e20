#!/usr/bin/env node
/**
 * `npx @accountlink/conformance ./my_store.js`: runs the storage suites on the layer that a module exports. Exits with 1
 * if a case failed, and with 2 if the command or the module is not as expected.
 */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import type { StoragePorts } from "@accountlink/core";
import { StorageMemory } from "@accountlink/storage-memory";
import { Layer } from "effect";
import type { Connection } from "./outages/connection.ts";
import { storageOutageSuite } from "./outages/outage_suites.ts";
import { runSuites } from "./run_suites.ts";
import { storageSuites } from "./storage_suites.ts";
import type { TestApi } from "./suite.ts";

const usage = `Usage: accountlink-conformance <module> [options]

The module exports "layer", a Layer of all storage ports; and "outages", the same
with "Connection", if its store can be out of reach.

  --only <text>   run the suites whose name contains the text, such as LinkStore
  --runs <count>  random inputs of each property; 100 by default
  --seed <seed>   reproduces a failure of a property, which reports its seed`;

/** What an adapter exports. */
interface AdapterModule {
  readonly layer?: Layer.Layer<StoragePorts, unknown>;
  readonly outages?: Layer.Layer<StoragePorts | Connection, unknown>;
}

const main = async (): Promise<number> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      only: { type: "string" },
      runs: { type: "string" },
      seed: { type: "string" },
      help: { type: "boolean" },
    },
  });
  const [path] = positionals;
  if (values.help === true || path === undefined || positionals.length > 1) return refuse(usage);
  const [runs, seed] = [Number(values.runs ?? "100"), Number(values.seed ?? "0")];
  if (!Number.isInteger(runs) || runs < 1) return refuse(`--runs is "${values.runs}", expected 1 or more`);
  if (!Number.isInteger(seed)) return refuse(`--seed is "${values.seed}", expected an integer`);

  const { layer, outages } = (await import(pathToFileURL(resolve(path)).href)) as AdapterModule;
  if (!Layer.isLayer(layer)) return refuse(`"${path}" exports no "layer", expected one of all storage ports`);
  const register = (test: TestApi): void => {
    const options = { name: path, test, ...(values.seed === undefined ? {} : { seed }) };
    storageSuites({ ...options, layer, model: StorageMemory.layer, runs });
    storageOutageSuite(
      outages === undefined
        ? { ...options, skip: `the module exports no "outages"` }
        : { ...options, layer: outages },
    );
  };

  const { only = "" } = values;
  const counts = { passed: 0, failed: 0, skipped: 0 };
  let shown = "";
  for await (const { suite, title, failure, skipped } of runSuites(register, {
    includes: (name) => name.includes(only),
  })) {
    if (suite !== shown) console.log(`\n${suite}`);
    shown = suite;
    if (skipped !== null) counts.skipped++;
    else if (failure === null) counts.passed++;
    else counts.failed++;
    console.log(`  ${markOf(failure, skipped)} ${title}`);
    if (failure !== null) console.log(indented(failure));
  }
  const { passed, failed, skipped } = counts;
  console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped`);
  if (passed + failed > 0) return failed === 0 ? 0 : 1;
  return refuse(`--only is "${only}", expected a part of the name of a suite`);
};

const refuse = (message: string): number => {
  console.error(message);
  return 2;
};

const markOf = (failure: unknown, skipped: string | null): string => {
  if (skipped !== null) return "-";
  return failure === null ? "✓" : "✗";
};

const indented = (failure: unknown): string => {
  const text = failure instanceof Error ? (failure.stack ?? failure.message) : String(failure);
  return text.slice(0, 4_000).replaceAll(/^/gm, "      ");
};

// A store may keep its connection open; nothing is left to do.
process.exit(await main());
