/**
 * Suites for outages of a store: every operation must fail with `StoreUnavailable`, without defects or wrong answers,
 * and succeed after the outage.
 */

import type { Cache, Conflict, Counters, Signals, StoragePorts, StoreUnavailable } from "@accountlink/core";
import { Effect } from "effect";
import { eventually, expectUnavailable } from "../expect.ts";
import { atOnce } from "../scopes.ts";
import { type Cases, type SuiteOptions, suite, type TestApi } from "../suite.ts";
import { Connection } from "./connection.ts";
import { type Operations, ofCache, ofCounters, ofSignals, ofStorage } from "./operations.ts";
import { outageWrites } from "./outage_writes.ts";

/** A layer with a connection that can break, or the reason why the adapter has none. */
export type OutageSuiteOptions<Ports> =
  | SuiteOptions<Ports | Connection>
  | { readonly name: string; readonly test: TestApi; readonly skip: string };

/**
 * Tests outages of a store. The layer provides the ports and `Connection`, which stops and restarts the server that
 * the store depends on. A store without such a dependency passes the reason as `skip` instead of a layer.
 *
 * @example
 * ```ts
 * import * as test from "vitest";
 *
 * // Stores in the memory of the process.
 * const inProcess = { name: "Memory", test, skip: "It has no server that can be down" };
 * storageOutageSuite(inProcess);
 * countersOutageSuite(inProcess);
 * cacheOutageSuite(inProcess);
 * signalsOutageSuite(inProcess);
 * ```
 */
export const storageOutageSuite = (options: OutageSuiteOptions<StoragePorts>): void =>
  outageSuite("storage", options, ofStorage, outageWrites);

/** Tests outages of counters, like `storageOutageSuite`. */
export const countersOutageSuite = (options: OutageSuiteOptions<Counters>): void =>
  outageSuite("Counters", options, ofCounters);

/** Tests outages of a cache, like `storageOutageSuite`. */
export const cacheOutageSuite = (options: OutageSuiteOptions<Cache>): void =>
  outageSuite("Cache", options, ofCache);

/** Tests outages of signals, like `storageOutageSuite`. */
export const signalsOutageSuite = (options: OutageSuiteOptions<Signals>): void =>
  outageSuite("Signals", options, ofSignals);

const outageSuite = <Ports>(
  port: string,
  options: OutageSuiteOptions<Ports>,
  operations: Effect.Effect<Operations, Conflict | StoreUnavailable, Ports>,
  cases: Cases<Ports | Connection> = {},
): void => {
  const title = `outages of ${port}`;
  if ("skip" in options) {
    const { name, test, skip } = options;
    test.describe(`${name}: ${title}`, () => {
      test.it.skip(skip, () => Promise.resolve());
    });
    return;
  }
  suite(title, options, { ...outageCases(operations), ...cases });
};

const outageCases = <Ports>(
  operations: Effect.Effect<Operations, Conflict | StoreUnavailable, Ports>,
): Cases<Ports | Connection> => ({
  "every operation fails with StoreUnavailable during an outage, and recovers": function* () {
    const connection = yield* Connection;
    const ready = Object.entries(yield* operations);
    for (const [, operation] of ready) yield* eventually(operation);
    yield* connection.break;
    // Run the operations concurrently, because each may wait for the adapter's timeout.
    yield* Effect.forEach(ready, ([name, operation]) => expectUnavailable(name, operation), atOnce).pipe(
      Effect.ensuring(connection.restore),
    );
    for (const [, operation] of ready) yield* eventually(operation);
  },
});
