/** Checks properties that are effects, on random inputs of fast-check. */
import { Effect } from "effect";
import * as FastCheck from "fast-check";

export interface PropertyOptions {
  /** The number of random inputs; 100 by default. */
  readonly runs?: number;
  /**
   * The seed of the random inputs; random by default. The message of a failure contains its seed, which reproduces the
   * failure.
   */
  readonly seed?: number;
}

/**
 * Checks the property on random inputs. Shrinks a failing input, and dies with this input and the seed.
 *
 * @param property fails or dies for an input that violates it
 *
 * @example
 * ```ts
 * import { Effect } from "effect";
 *
 * const isLong = (id: string) => (id.length > 4 ? Effect.void : Effect.fail(`${id} is too short`));
 * await Effect.runPromise(check(Arbitrary.chatId, isLong, { runs: 10 }));
 * ```
 */
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
