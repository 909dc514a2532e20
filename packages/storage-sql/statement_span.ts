/** Spans of statements that do not run through `SqlClient`, which gives spans to its own. */
import { Effect } from "effect";

/** Gives a statement a span as `SqlClient` would. */
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
