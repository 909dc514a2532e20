/** Traces statements that run directly on `Connection`. `SqlClient` already traces the statements that it runs. */
import { Effect } from "effect";

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
