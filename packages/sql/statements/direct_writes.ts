/** Runs writes with fixed SQL text on the hot path, without the cost of `SqlClient`'s templates, scopes and spans. */
import type { Millis } from "@accountlink/core/timestamp";
import { Context, Effect } from "effect";
import type { SqlClient, SqlConnection, SqlError } from "effect/sql";

export interface BoundStatement {
  readonly text: string;
  readonly values: ReadonlyArray<unknown>;
}

type Answer<A> = Effect.Effect<A, SqlError.SqlError>;
export type Rows = ReadonlyArray<SqlConnection.Row>;

export interface DirectWrites {
  /** Runs statements in one transaction, and returns the rows of each statement. */
  readonly transaction: (statements: ReadonlyArray<BoundStatement>) => Answer<ReadonlyArray<Rows>>;
  /**
   * Runs a statement that commits by itself, without a transaction around it. Undefined for databases where this would
   * save no round trip.
   */
  readonly atOnce?: (statement: BoundStatement) => Answer<Rows>;
}

/** A faster way to write than `withTransaction`, for clients that provide one; null for all other clients. */
export const ClientDirectWrites = Context.Reference<DirectWrites | null>(
  "@accountlink/sql/ClientDirectWrites",
  { defaultValue: () => null },
);

/**
 * Returns `DirectWrites` that run in the current transaction of the fiber, or in a new one if the fiber has none. If a
 * write fails in a transaction of the caller, the caller must let this transaction fail.
 */
export const directWritesOn = (sql: SqlClient.SqlClient): Effect.Effect<DirectWrites> =>
  Effect.map(ClientDirectWrites, (direct) => {
    const run = runOn(sql);
    const transaction = direct?.transaction ?? ((statements) => sql.withTransaction(run(statements)));
    return {
      ...direct,
      transaction: (statements) =>
        Effect.withFiber(({ context }) => (isInTransaction(sql, context) ? run : transaction)(statements)),
    };
  });

const runOn =
  (sql: SqlClient.SqlClient): DirectWrites["transaction"] =>
  (statements) =>
    Effect.forEach(statements, ({ text, values }) => sql.unsafe<SqlConnection.Row>(text, values));

export const isInTransaction = (sql: SqlClient.SqlClient, context: Context.Context<never>): boolean =>
  Context.getOrUndefined(context, sql.transactionService) !== undefined;

/**
 * Estimates the database clock from the times in the database's answers. The estimate gives a deadline to statements
 * that commit by themselves: if the server or network stalls, such a statement may reach the database long after its
 * request, and must not overwrite later writes. If the database clock jumps, the next answer corrects the estimate.
 */
export class DatabaseClock {
  /**
   * The database time in the latest answer minus `performance.now()` at its arrival. As an estimate, this difference is
   * too low by the travel time of the answer.
   */
  #ahead: number | undefined;

  saw(time: unknown): void {
    if (typeof time === "number") this.#ahead = time - performance.now();
  }

  /** The estimated database time this many milliseconds from now; undefined before the first answer. */
  timeIn(milliseconds: number): Millis | undefined {
    return this.#ahead === undefined ? undefined : Math.floor(performance.now() + this.#ahead + milliseconds);
  }
}
