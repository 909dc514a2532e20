/** Tools to show that the suites find what is wrong with an adapter. */
import { StoreUnavailable } from "@accountlink/core";
import { type Context, Effect, Layer } from "effect";
import type { TestApi } from "../suite.ts";

/** Runs what is registered, one after the other, and gives the titles of what failed. */
export const failingTitles = async (register: (test: TestApi) => void): Promise<ReadonlyArray<string>> => {
  const cases: Array<readonly [title: string, body: () => Promise<void>]> = [];
  const cleanups: Array<() => Promise<void>> = [];
  register({
    describe: (_, body) => body(),
    it: Object.assign((title: string, body: () => Promise<void>) => cases.push([title, body]), {
      skip: () => {},
    }),
    afterAll: (body) => cleanups.push(body),
  });
  const failed: Array<string> = [];
  for (const [title, body] of cases) await body().catch(() => failed.push(title));
  for (const cleanup of cleanups) await cleanup();
  return failed;
};

/** The layer with some operations of one port done in another way. */
export const altered = <Ports, Port extends Ports, Shape extends object>(
  layer: Layer.Layer<Ports>,
  port: Context.Key<Port, Shape>,
  change: (original: Shape) => Partial<Shape>,
): Layer.Layer<Ports> =>
  Layer.effect(
    port,
    Effect.map(port, (original) => ({ ...original, ...change(original) })),
  ).pipe(Layer.provideMerge(layer as Layer.Layer<Ports | Port>));

/** How an operation ends while the connection is broken. */
export type Breakage = (
  operation: Effect.Effect<unknown, StoreUnavailable>,
  name: string,
) => Effect.Effect<unknown, StoreUnavailable>;

/** As it should be. */
export const unavailable: Breakage = (_, operation) => Effect.fail(new StoreUnavailable({ operation }));

/** The port, whose operations end as `breakage` says while `isBroken`. */
export const breakable = <Shape extends object>(
  port: Shape,
  isBroken: () => boolean,
  breakage: Breakage = unavailable,
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
