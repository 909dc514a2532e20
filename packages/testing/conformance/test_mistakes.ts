/** Runs the suites against adapters with mistakes. */
import { StoreUnavailable } from "@accountlink/core";
import { type Context, Effect, Layer } from "effect";
import { runSuites } from "./run_suites.ts";
import type { TestApi } from "./suite.ts";

/** Runs the registered cases in sequence, and returns the titles of failed ones. */
export const failingTitles = async (register: (test: TestApi) => void): Promise<ReadonlyArray<string>> => {
  const failed: Array<string> = [];
  for await (const { title, failure } of runSuites(register)) if (failure !== null) failed.push(title);
  return failed;
};

export const withMistake = <Ports, Port extends Ports, Shape extends object>(
  layer: Layer.Layer<Ports>,
  port: Context.Key<Port, Shape>,
  change: (original: Shape) => Partial<Shape>,
): Layer.Layer<Ports> =>
  Layer.effect(
    port,
    Effect.map(port, (original) => ({ ...original, ...change(original) })),
  ).pipe(Layer.provideMerge(layer as Layer.Layer<Ports | Port>));

/** How an operation behaves during an outage. */
export type Breakage = (
  operation: Effect.Effect<unknown, StoreUnavailable>,
  name: string,
) => Effect.Effect<unknown, StoreUnavailable>;

export const unavailable: Breakage = (_, operation) => Effect.fail(new StoreUnavailable({ operation }));

/** Wraps a port: while `isBroken`, its operations behave as `breakage` says. */
export const breakable = <Shape extends object>(
  port: Shape,
  isBroken: () => boolean,
  breakage: Breakage,
): Shape =>
  Object.fromEntries(
    Object.entries(port).map(([name, run]) => [
      name,
      (...args: ReadonlyArray<unknown>) =>
        Effect.suspend(() => {
          const operation = (run as (...all: typeof args) => Effect.Effect<unknown, StoreUnavailable>)(
            ...args,
          );
          return isBroken() ? breakage(operation, name) : operation;
        }),
    ]),
  ) as Shape;
