/**
 * What an adapter must do when its store is out of reach: every operation fails with `StoreUnavailable`, none dies,
 * none gives an answer that is wrong, and all work again when the store is back.
 */
import type { Cache, Counters, Signals, StoragePorts, StoreUnavailable } from "@accountlink/core";
import { Effect } from "effect";
import { Connection } from "./connection.ts";
import { eventually, expectUnavailable } from "./internal/expect.ts";
import { failingWrites } from "./internal/failing_writes.ts";
import {
  cacheOperations,
  countersOperations,
  type Operations,
  signalsOperations,
  storageOperations,
} from "./internal/operations.ts";
import { type Cases, type SuiteOptions, suite, type TestApi } from "./suite.ts";

/** What a failing suite takes: a layer whose connection can be broken, or the reason why there is none to break. */
export type FailingSuiteOptions<Ports> =
  | SuiteOptions<Ports | Connection>
  | { readonly name: string; readonly test: TestApi; readonly skip: string };

/**
 * Tests a store whose connection breaks. The layer provides `Connection` next to the ports: it cuts what the store
 * hangs on, such as the server that it connects to, and brings it back. A store that hangs on nothing gives `skip`, the
 * reason, in place of the layer.
 */
export const failingStorageSuite = (options: FailingSuiteOptions<StoragePorts>): void =>
  failingSuite("storage", options, storageOperations, failingWrites);

/** Tests counters whose connection breaks, as `failingStorageSuite` does a store. */
export const failingCountersSuite = (options: FailingSuiteOptions<Counters>): void =>
  failingSuite("Counters", options, countersOperations);

/** Tests a cache whose connection breaks, as `failingStorageSuite` does a store. */
export const failingCacheSuite = (options: FailingSuiteOptions<Cache>): void =>
  failingSuite("Cache", options, cacheOperations);

/** Tests signals whose connection breaks, as `failingStorageSuite` does a store. */
export const failingSignalsSuite = (options: FailingSuiteOptions<Signals>): void =>
  failingSuite("Signals", options, signalsOperations);

const failingSuite = <Ports>(
  port: string,
  options: FailingSuiteOptions<Ports>,
  operations: Effect.Effect<Operations, StoreUnavailable, Ports>,
  cases: Cases<Ports | Connection> = {},
): void => {
  const title = `${port} without its connection`;
  if ("skip" in options) {
    const { name, test, skip } = options;
    test.describe(`${name}: ${title}`, () => {
      test.it.skip(skip, () => Promise.resolve());
    });
    return;
  }
  suite(title, options, { ...failingCases(operations), ...cases });
};

const failingCases = <Ports>(
  operations: Effect.Effect<Operations, StoreUnavailable, Ports>,
): Cases<Ports | Connection> => ({
  "every operation fails with StoreUnavailable, and works again": Effect.gen(function* () {
    const connection = yield* Connection;
    const ready = Object.entries(yield* operations);
    for (const [, operation] of ready) yield* operation;
    yield* connection.break;
    // At once, since each may take as long as the adapter waits for an answer.
    yield* Effect.forEach(ready, ([name, operation]) => expectUnavailable(name, operation), {
      concurrency: "unbounded",
    }).pipe(Effect.ensuring(connection.restore));
    for (const [, operation] of ready) yield* eventually(operation);
  }),
});
