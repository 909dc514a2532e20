import type { Kv } from "@accountlink/kv";
import { type Effect, Layer, type Scope } from "effect";
import { type SuiteOptions, suite } from "../suite.ts";
import { Engine } from "./engine.ts";
import { limitCases } from "./limit_cases.ts";
import { raceCases } from "./race_cases.ts";
import { randomCases } from "./random_cases.ts";
import { rangeCases } from "./range_cases.ts";

export interface KvSuiteOptions extends Omit<SuiteOptions<never>, "layer"> {
  /** Opens the engine, which need not be empty. */
  readonly engine: Effect.Effect<Kv, unknown, Scope.Scope>;
}

/**
 * Tests an engine for the stores of `@accountlink/kv`: order, ranges, counts, versions, commits of all or nothing,
 * racing writers, and the limits of size and number.
 */
export const kvSuite = ({ engine, ...options }: KvSuiteOptions): void =>
  suite(
    "Kv",
    { ...options, layer: Layer.effect(Engine, engine) },
    { ...rangeCases, ...randomCases, ...limitCases, ...raceCases },
  );
