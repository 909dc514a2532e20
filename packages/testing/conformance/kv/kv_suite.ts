import type { Kv } from "@accountlink/kv";
import { Effect, Layer, type Scope } from "effect";
import { type SuiteOptions, suite } from "../suite.ts";
import { Engine, OtherHandle } from "./engine.ts";
import { limitCases } from "./limit_cases.ts";
import { raceCases } from "./race_cases.ts";
import { randomCases } from "./random_cases.ts";
import { rangeCases } from "./range_cases.ts";

export interface KvSuiteOptions extends Omit<SuiteOptions<never>, "layer"> {
  /** Opens the engine, which need not be empty. */
  readonly engine: Effect.Effect<Kv, unknown, Scope.Scope>;
  /**
   * Opens the same store a second time, as another process does. Without it, the suite cannot tell a lock of the process
   * from one of the store.
   */
  readonly other?: Effect.Effect<Kv, unknown, Scope.Scope> | undefined;
}

/**
 * Tests an engine for the stores of `@accountlink/kv`: order, ranges, counts, versions, commits of all or nothing,
 * racing writers, and the limits of size and number. It cannot see a store that loses later what it has answered, by
 * expiry, eviction or a crash.
 */
export const kvSuite = ({ engine, other, ...options }: KvSuiteOptions): void =>
  suite(
    "Kv",
    { ...options, layer: handles(Layer.effect(Engine, engine), other) },
    { ...rangeCases, ...randomCases, ...limitCases, ...raceCases },
  );

/** Both handles of a suite, the second opened after the first. @internal */
export const handles = <E>(engine: Layer.Layer<Engine, E>, other?: KvSuiteOptions["other"]) => {
  const second: Effect.Effect<Kv, unknown, Scope.Scope | Engine> = other ?? Effect.map(Engine, (kv) => kv);
  return Layer.effect(OtherHandle, second).pipe(Layer.provideMerge(engine));
};
