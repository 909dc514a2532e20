/**
 * Registers a suite whose cases share one layer. They create their own accounts, scopes and keys, so the store need
 * not be empty.
 */
import { Effect, type Layer, ManagedRuntime, type Scope } from "effect";

/** The test framework, such as `import * as test from "vitest"`. For `node:test`, pass its `after` as `afterAll`. */
export interface TestApi {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: {
    (name: string, body: () => Promise<void>): unknown;
    readonly skip: (name: string, body: () => Promise<void>) => unknown;
  };
  readonly afterAll: (body: () => Promise<void>) => unknown;
}

export interface SuiteOptions<Ports> {
  /** The name of the adapter in titles. */
  readonly name: string;
  /** Builds the adapter: once for each suite, and once for each case of `rootKeyStoreSuite`. */
  readonly layer: Layer.Layer<Ports, unknown>;
  readonly test: TestApi;
  /** `maxChanges` of the engine below the stores. With fewer than 1,000, they may change less at once. */
  readonly maxChanges?: number | undefined;
}

/** The body of a case: an effect, or a generator as for `Effect.gen`. */
type Case<R> =
  | Effect.Effect<void, unknown, R>
  | (() => Generator<Effect.Effect<unknown, unknown, R>, void, never>);

export type Cases<Ports> = Readonly<Record<string, Case<Ports | Scope.Scope>>>;

export const effectOf = <R>(body: Case<R>) => (Effect.isEffect(body) ? body : Effect.gen(body));

export const suite = <Ports>(port: string, options: SuiteOptions<Ports>, cases: Cases<Ports>): void => {
  const { name, layer, test } = options;
  test.describe(`${name}: ${port}`, () => {
    const runtime = ManagedRuntime.make(layer);
    for (const [title, body] of Object.entries(cases)) {
      test.it(title, () => runtime.runPromise(Effect.scoped(effectOf(body))));
    }
    test.afterAll(() => runtime.dispose());
  });
};
