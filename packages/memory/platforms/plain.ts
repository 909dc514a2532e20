import { Effect, Record } from "effect";

/** The operations of a port without `Effect.sync`. */
export type Plain<S> = {
  readonly [K in keyof S]: NonNullable<S[K]> extends (...args: infer In) => Effect.Effect<infer A, infer E>
    ? (...args: In) => A | Effect.Effect<A, E>
    : never;
};

/** Makes the operations of a port. A function that returns no effect runs synchronously, so it is atomic. */
export const operationsOf = <S extends object>(plain: Plain<S>): S =>
  Record.map(
    plain,
    (run: (...args: ReadonlyArray<unknown>) => unknown) =>
      (...args: ReadonlyArray<unknown>) =>
        Effect.suspend(() => {
          const outcome = run(...args);
          return Effect.isEffect(outcome) ? outcome : Effect.succeed(outcome);
        }),
  ) as S;
