/**
 * What every suite takes and how it runs: one layer for all its cases, built before the first and released after the
 * last. The cases make their own accounts, scopes and keys, so the store behind the layer need not be empty.
 */
import { Effect, type Layer, ManagedRuntime, type Scope } from "effect";

/**
 * The part of a test framework that a suite needs. Vitest and `bun:test` have it: `import * as test from "vitest"`.
 * `node:test` has it as well, under the name `after` for `afterAll`.
 */
export interface TestApi {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: {
    (name: string, body: () => Promise<void>): unknown;
    readonly skip: (name: string, body: () => Promise<void>) => unknown;
  };
  readonly afterAll: (body: () => Promise<void>) => unknown;
}

/** What a suite takes. */
export interface SuiteOptions<Ports> {
  /** Names the adapter in the titles of the tests. */
  readonly name: string;
  /** Makes the adapter. A layer is a factory: each suite builds it anew. */
  readonly layer: Layer.Layer<Ports, unknown>;
  readonly test: TestApi;
}

/** Test cases by their titles. A case that fails or dies has failed. */
export type Cases<Ports> = Readonly<Record<string, Effect.Effect<void, unknown, Ports | Scope.Scope>>>;

/** Registers the cases with the test framework. */
export const suite = <Ports>(port: string, options: SuiteOptions<Ports>, cases: Cases<Ports>): void => {
  const { name, layer, test } = options;
  test.describe(`${name}: ${port}`, () => {
    const runtime = ManagedRuntime.make(layer);
    for (const [title, body] of Object.entries(cases)) {
      test.it(title, () => runtime.runPromise(Effect.scoped(body)));
    }
    test.afterAll(() => runtime.dispose());
  });
};
