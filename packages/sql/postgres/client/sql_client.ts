/** `SqlClient` for Postgres, on the driver `pg`. */
import { isTraced } from "@accountlink/core/telemetry";
import { Context, Effect, Layer, Stream } from "effect";
import { Reactivity } from "effect/reactivity";
import { SqlClient, SqlConnection, SqlError, Statement } from "effect/sql";
import {
  type BoundStatement,
  ClientDirectWrites,
  type DirectWrites,
  type Rows,
} from "../../statements/direct_writes.ts";
import { withStatementSpan, withWriteSpans } from "../../statements/statement_span.ts";
import type { ConnectionLease, Query } from "./connection_lease.ts";
import { makePostgresPool, type PostgresPoolOptions } from "./pool.ts";
import type { StatementResult } from "./statement_group.ts";

/**
 * Connects on demand, so nothing fails before the first statement.
 *
 * Use `SqlClient` for queries in general, and `Connection` for constant statements on the hot path outside of
 * transactions: `Connection` builds no template and no span. Each statement may run on another connection.
 *
 * A parameter that is not null, string, number, bigint, boolean or Uint8Array is a defect that names its position.
 * Integers beyond `Number.MAX_SAFE_INTEGER` can be written as bigint, but must be read as text.
 */
export const layerPostgresClient = (
  options: PostgresPoolOptions,
): Layer.Layer<SqlClient.SqlClient | SqlConnection.Connection> =>
  Layer.effectContext(make(options)).pipe(Layer.provide(Reactivity.layer));

const make = Effect.fnUntraced(function* (options: PostgresPoolOptions) {
  const pool = yield* makePostgresPool(options);
  const shared = new Connection((query) => pool.run(query));
  const client = yield* SqlClient.make({
    driver: "pg",
    compiler,
    spanAttributes: [["db.system.name", "postgresql"]],
    acquirer: Effect.succeed(shared),
    borrower: (use) => use(shared),
    transactionAcquirer: Effect.map(
      pool.lease,
      (lease) => new Connection((query) => lease.run(query), lease),
    ),
    prepareTransactionControls: true,
    commit: commitOn,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    // A lost connection has no transaction left to roll back.
    isTransaction: (connection) =>
      connection instanceof Connection && connection.lease?.isInTransaction === true,
  });
  const direct: DirectWrites = {
    transaction: (statements) => pool.transaction(statements.map(preparedOf)),
    atOnce: (statement) =>
      Effect.map(pool.run({ ...preparedOf(statement), commits: true }), ({ rows }) => rows as Rows),
  };
  const isTracing = yield* isTraced;
  return Context.make(SqlClient.SqlClient, client).pipe(
    Context.add(
      SqlConnection.Connection,
      isTracing ? new TracedConnection((query) => pool.run(query)) : shared,
    ),
    Context.add(ClientDirectWrites, isTracing ? withWriteSpans("postgresql", direct) : direct),
  );
});

const preparedOf = ({ text, values }: BoundStatement) => ({
  text,
  values: bindable(values),
  isPrepared: true,
});

/** Postgres answers the COMMIT of a failed transaction with ROLLBACK, without an error. */
const commitOn = Effect.fnUntraced(function* (connection: SqlConnection.Connection) {
  const { command } = (yield* connection.executeRaw("COMMIT", [])) as StatementResult;
  if (command !== "COMMIT") return yield* refused("Cannot commit: a statement of the transaction had failed");
});

const escape = Statement.defaultEscape('"');

const compiler = Statement.makeCompiler({
  dialect: "pg",
  placeholder: (index) => `$${index}`,
  onIdentifier: escape,
  onRecordUpdate: (placeholders, alias, columns, values, returning) => [
    `(VALUES ${placeholders}) AS ${alias}${columns}${returning === undefined ? "" : ` RETURNING ${returning[0]}`}`,
    returning === undefined ? values.flat() : values.flat().concat(returning[1]),
  ],
  onCustom: () => ["", []],
});

type Result = Effect.Effect<StatementResult, SqlError.SqlError>;
type Run = (query: Query) => Result;

class Connection implements SqlConnection.Connection {
  /** The lease of the current transaction. Outside of transactions, every statement takes its own. */
  readonly lease: ConnectionLease | undefined;
  readonly #run: Run;

  constructor(run: Run, lease?: ConnectionLease) {
    this.#run = run;
    this.lease = lease;
  }

  execute(text: string, params: ReadonlyArray<unknown>, transformRows: TransformRows | undefined) {
    return rowsOf(this.#run({ text, values: bindable(params), isPrepared: true }), transformRows);
  }

  executeRaw(text: string, params: ReadonlyArray<unknown>) {
    return this.#run({ text, values: bindable(params), isPrepared: true });
  }

  executeValues(text: string, params: ReadonlyArray<unknown>) {
    return valuesOf(this.#run({ text, values: bindable(params), isPrepared: true, rowMode: "array" }));
  }

  executeUnprepared(text: string, params: ReadonlyArray<unknown>, transformRows: TransformRows | undefined) {
    return rowsOf(this.#run({ text, values: bindable(params), isPrepared: false }), transformRows);
  }

  executeValuesUnprepared(text: string, params: ReadonlyArray<unknown>) {
    return valuesOf(this.#run({ text, values: bindable(params), isPrepared: false, rowMode: "array" }));
  }

  executeStream() {
    const message = "Cannot stream rows: it would keep a connection busy, expected pages by key";
    return Stream.suspend(() => Stream.fail(refused(message)));
  }
}

/** Traces statements, as `SqlClient` does. */
class TracedConnection extends Connection {
  override execute(text: string, params: ReadonlyArray<unknown>, transformRows: TransformRows | undefined) {
    return withStatementSpan("postgresql", text, super.execute(text, params, transformRows));
  }

  override executeValues(text: string, params: ReadonlyArray<unknown>) {
    return withStatementSpan("postgresql", text, super.executeValues(text, params));
  }
}

type TransformRows = <A extends object>(rows: ReadonlyArray<A>) => ReadonlyArray<A>;

const rowsOf = (result: Result, transformRows: TransformRows | undefined) =>
  Effect.map(result, ({ rows }) => (transformRows === undefined ? rows : transformRows(rows)));

const valuesOf = (result: Result) =>
  Effect.map(result, ({ rows }) => rows as ReadonlyArray<ReadonlyArray<unknown>>);

/** Refuses types that the driver converts: a Date would get the local time zone, and other objects become JSON. */
const bindable = (params: ReadonlyArray<unknown>): ReadonlyArray<unknown> => {
  for (const [index, value] of params.entries()) {
    if (value === null || primitives.has(typeof value) || value instanceof Uint8Array) continue;
    throw new TypeError(
      `Cannot bind parameter ${index + 1}: it is ${value?.constructor.name ?? "undefined"}, expected null, string, number, bigint, boolean or Uint8Array`,
    );
  }
  return params;
};

const primitives = new Set(["string", "number", "bigint", "boolean"]);

const refused = (message: string): SqlError.SqlError =>
  new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause: undefined, message }) });
