/** Spans of statements that run on `Connection`; `SqlClient` has its own. */
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
