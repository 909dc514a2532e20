import type { StoreUnavailable } from "@accountlink/core";
import type { Effect, Scope } from "effect";

/** Operations by name. A test may run each operation several times. */
export type Operations = Readonly<Record<string, Effect.Effect<unknown, StoreUnavailable, Scope.Scope>>>;

export type OperationsOf<Port> = {
  readonly [Name in keyof Port]: Effect.Effect<unknown, StoreUnavailable, Scope.Scope>;
};

export const prefixed = (port: string, operations: Operations): Operations =>
  Object.fromEntries(Object.entries(operations).map(([name, operation]) => [`${port}.${name}`, operation]));
