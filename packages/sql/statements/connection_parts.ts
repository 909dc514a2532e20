/** What the connections of both databases share. */
import { Effect, Stream } from "effect";
import { SqlError } from "effect/sql";

/** Traces a statement that runs directly on `Connection`. `SqlClient` already traces the statements that it runs. */
export const withStatementSpan = <A, E, R>(
  system: "postgresql" | "sqlite",
  text: string,
  statement: Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> =>
  Effect.useSpan(
    system,
    { kind: "client", attributes: { "db.system.name": system, "db.query.text": text } },
    () => statement,
  );

export const streamRefused = Stream.suspend(() => {
  const message = "Cannot stream rows: it would keep the connection busy, expected pages by key";
  return Stream.fail(
    new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause: undefined, message }) }),
  );
});
