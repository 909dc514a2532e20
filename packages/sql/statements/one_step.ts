import { Context, type Effect } from "effect";
import type { SqlError } from "effect/sql";

/** The statements of a transaction that runs in one step. */
export interface StepStatements {
  readonly all: (text: string, params: ReadonlyArray<unknown>) => ReadonlyArray<Record<string, unknown>>;
  readonly run: (text: string, params: ReadonlyArray<unknown>) => unknown;
}

/**
 * Runs a transaction of constant statements without a pause between them, and waits for its commit. Returns null, and
 * has changed nothing, if `body` returns null, or if the transaction would have to wait for another one.
 */
export type OneStep = <A>(
  body: (statements: StepStatements) => A | null,
) => Effect.Effect<A | null, SqlError.SqlError>;

/** How a database in this process runs transactions in one step; null for others. */
export const OneStepTransactions = Context.Reference<OneStep | null>("@accountlink/sql/OneStepTransactions", {
  defaultValue: () => null,
});
