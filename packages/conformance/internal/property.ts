import { Effect } from "effect";
import * as FastCheck from "fast-check";

/** How much a property is tried. */
export interface PropertyOptions {
  /** How many random inputs are tried; 100 when left out. */
  readonly runs?: number;
  /** Makes a failure come back: the seed that its message names. */
  readonly seed?: number;
}

/** Tries the property on random inputs. The one that fails is reduced to a small one, and named with its seed. */
export const check = <A, E, R>(
  inputs: FastCheck.Arbitrary<A>,
  property: (input: A) => Effect.Effect<void, E, R>,
  { runs = 100, seed }: PropertyOptions = {},
): Effect.Effect<void, never, R> =>
  Effect.flatMap(Effect.context<R>(), (context) =>
    Effect.promise(() =>
      FastCheck.assert(
        FastCheck.asyncProperty(inputs, (input) => Effect.runPromiseWith(context)(property(input))),
        { numRuns: runs, ...(seed === undefined ? {} : { seed }) },
      ),
    ),
  );
