/** For tests: stores whose lookups are observed. */
import { Effect, Layer } from "effect";
import { SqlConnection } from "effect/sql";
import { layer as stores } from "./stores.ts";

/** Makes the stores of a node, and calls `onAnswer` with the SQL text of each lookup and the number of its rows. */
export const storesObserved = (onAnswer: (text: string, rows: number) => void) => {
  const connection = Effect.map(
    SqlConnection.Connection,
    (shared) =>
      new Proxy(shared, {
        get: (target, name) => {
          if (name !== "execute" && name !== "executeValues") return Reflect.get(target, name);
          return (text: string, params: ReadonlyArray<unknown>) =>
            Effect.tap(target[name](text, params, undefined), (rows) =>
              Effect.sync(() => onAnswer(text, rows.length)),
            );
        },
      }),
  );
  return Layer.provide(stores, Layer.effect(SqlConnection.Connection, connection));
};
