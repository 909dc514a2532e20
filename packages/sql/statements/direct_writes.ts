/** Constant statements that write, on the hot path: without what templates, scopes and spans of `SqlClient` take. */
import { Context, Effect } from "effect";
import type { SqlClient, SqlConnection, SqlError } from "effect/sql";

export interface BoundStatement {
  readonly text: string;
  readonly values: ReadonlyArray<unknown>;
}

type Answer<A> = Effect.Effect<A, SqlError.SqlError>;
export type Rows = ReadonlyArray<SqlConnection.Row>;

export interface DirectWrites {
  /** Runs statements in one transaction, and gives the rows of each. */
  readonly transaction: (statements: ReadonlyArray<BoundStatement>) => Answer<ReadonlyArray<Rows>>;
  /** Runs a statement that is committed with its answer, for a database where this saves a wait; outside of transactions. */
  readonly atOnce?: (statement: BoundStatement) => Answer<Rows>;
}

/** What a client provides that has a shorter way than `withTransaction`. */
export const ClientDirectWrites = Context.Reference<DirectWrites | null>(
  "@accountlink/sql/ClientDirectWrites",
  { defaultValue: () => null },
);

/** Writes in the transaction of the fiber, which has to fail where they do, or in one of their own. */
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
