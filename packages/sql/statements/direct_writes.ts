/** Runs writes with fixed SQL text on the hot path, without the cost of `SqlClient`'s templates, scopes and spans. */
import type { Millis } from "@accountlink/core/timestamp";
import { Context, type Effect } from "effect";
import type { SqlConnection, SqlError } from "effect/sql";

export interface BoundStatement {
  readonly text: string;
  readonly values: ReadonlyArray<unknown>;
}

type Answer<A> = Effect.Effect<A, SqlError.SqlError>;
export type Rows = ReadonlyArray<SqlConnection.Row>;

export interface DirectWrites {
  /** Runs statements in one new transaction, and returns the rows of each statement. */
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
