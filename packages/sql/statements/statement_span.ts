/** Traces statements that run directly on `Connection`. `SqlClient` already traces the statements that it runs. */
import { Effect } from "effect";
import type { DirectWrites } from "./direct_writes.ts";

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

/** Traces the writes of `DirectWrites`. A transaction has one span, which contains the text of all its statements. */
export const withWriteSpans = (
  system: Parameters<typeof withStatementSpan>[0],
  { transaction, atOnce }: DirectWrites,
): DirectWrites => ({
  transaction: (statements) =>
    withStatementSpan(system, statements.map(({ text }) => text).join(";\n"), transaction(statements)),
  ...(atOnce && { atOnce: (statement) => withStatementSpan(system, statement.text, atOnce(statement)) }),
});
