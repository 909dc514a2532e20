/**
 * All differences between the SQL databases. The stores are the same on all of them: to add a database, add a value
 * here and a case in `dialectOf`.
 *
 * SQLite and Postgres share `ON CONFLICT`, `RETURNING`, `IS DISTINCT FROM` and `->>`. Times are integers
 * (milliseconds), JSON is text, and there are no booleans.
 */
import { hourMs } from "@accountlink/core/timestamp";
import { Context, Effect, Option } from "effect";
import type { SqlClient, SqlError, Statement } from "effect/sql";

export interface Dialect {
  /**
   * Translates a statement that changes the schema. TEXT becomes a type that compares and sorts by bytes, INTEGER a type
   * of integers up to `Number.MAX_SAFE_INTEGER`, and SEQUENCE a primary key that numbers rows in insertion order. SQLite
   * clusters the other tables by their primary keys.
   */
  readonly schemaChange: (statement: string) => string;

  /** A table with the column `value`: the elements of a JSON array, which is passed as one parameter. */
  readonly elements: (json: string) => Statement.Fragment;
  /** A condition that follows a column: the column's value is one of these, which are one parameter. */
  readonly isAmong: (values: ReadonlyArray<string>) => Statement.Fragment;
  /**
   * A condition that follows an indexed column: the column's value is among the rows of a SELECT, which returns few
   * rows.
   */
  readonly isAnyOf: (select: Statement.Fragment) => Statement.Fragment;

  /** Follows a SELECT: locks the rows against changes and against new rows that refer to them. */
  readonly forUpdate: Statement.Fragment;
  /** Follows a SELECT: locks the rows against changes; other transactions may still refer to them. */
  readonly forReference: Statement.Fragment;
  /** Follows a SELECT: locks the rows against others that take this lock; other transactions may refer to them. */
  readonly forChange: Statement.Fragment;
  /** Like `forUpdate`, but skips locked rows. */
  readonly forUpdateUnlocked: Statement.Fragment;
  /**
   * A table of one row with the column `locks`. Reading it waits while one of the chat users is being erased, and
   * makes erasures of these users wait for the end of the transaction.
   */
  readonly usersInUse: (chatIds: ReadonlyArray<string>) => Statement.Fragment;
  /** Deletes the first `limit` rows of a table that meet the condition, sorted by `order`. May skip locked rows. */
  readonly deleteFirst: (rows: {
    readonly table: string;
    readonly primaryKey: ReadonlyArray<string>;
    readonly order: string;
    readonly condition: Statement.Fragment;
    readonly limit: number;
  }) => Statement.Statement<unknown>;

  /**
   * A source of rows, used after FROM. For each element of a JSON array, it has the first `limit` rows of the table
   * that meet `condition`. `condition` refers to the element as `value`, and to columns without a table name. `key` is
   * a column that is unique among the rows of one element.
   */
  readonly firstRowsOfEach: (rows: {
    readonly json: string;
    readonly table: string;
    readonly key: string;
    readonly condition: Statement.Fragment;
    readonly order: string;
    readonly limit: number;
  }) => Statement.Fragment;

  /**
   * Follows FROM: joins each row of `each` with the rows of `table` that meet `condition`. Makes Postgres use the
   * index on the columns in `condition`. Otherwise, Postgres may choose a slower plan while it has no statistics of the
   * table, and a connection keeps that plan.
   */
  readonly rowsOfEach: (rows: {
    readonly each: Statement.Fragment;
    readonly table: string;
    readonly condition: Statement.Fragment;
  }) => Statement.Fragment;

  /**
   * Whether transactions commit in the order of their statements. If so, an event gets its position when it is
   * inserted.
   */
  readonly commitsInOrder: boolean;
  /**
   * A table of one row with the column `locks`. Reading it locks the name until the end of the transaction, and waits
   * while another transaction holds the same name, or has read `usersInUse` for a chat user of this ID.
   */
  readonly onlyOne: (name: string) => Statement.Fragment;

  /** Runs a statement, and returns how many rows it wrote. */
  readonly rowsWritten: (statement: Statement.Statement<unknown>) => Effect.Effect<number, SqlError.SqlError>;

  /** Whether each statement needs a network round trip, so that batches are worthwhile. */
  readonly isRemote: boolean;
  /** Runs a transaction over many rows: on Postgres with a timeout of a minute, on SQLite in a thread of its own. */
  readonly asBulk: Around;
  /** Runs one statement as a step of long work: on SQLite as a transaction, which waits for its turn. */
  readonly asStep: Around;
  /** Runs a transaction that changes the schema. Only one such transaction runs at a time, even with several nodes. */
  readonly withMigrationLock: Around;
}

type Around = <A, E, R>(transaction: Effect.Effect<A, E, R>) => Effect.Effect<A, E | SqlError.SqlError, R>;

const sqlite = (sql: SqlClient.SqlClient): Dialect => ({
  schemaChange: (statement) => {
    if (!statement.startsWith("CREATE TABLE")) return statement;
    return statement.includes("SEQUENCE")
      ? `${statement.replace("SEQUENCE", "INTEGER PRIMARY KEY")} STRICT`
      : `${statement} STRICT, WITHOUT ROWID`;
  },
  elements: (json) => sql`json_each(${json})`,
  isAmong: (values) => sql`IN (SELECT value FROM json_each(${JSON.stringify(values)}))`,
  isAnyOf: (select) => sql`IN (${select})`,
  // SQLite needs no row locks: BEGIN IMMEDIATE already excludes all other writers.
  forUpdate: sql.literal(""),
  forReference: sql.literal(""),
  forChange: sql.literal(""),
  forUpdateUnlocked: sql.literal(""),
  usersInUse: () => sql`(SELECT 0 AS locks) AS held`,
  deleteFirst: ({ table, primaryKey, order, condition, limit }) => {
    const columns = sql.literal(primaryKey.join(", "));
    return sql`DELETE FROM ${sql(table)} WHERE (${columns}) IN (
      SELECT ${columns} FROM ${sql(table)} WHERE ${condition} ORDER BY ${sql.literal(order)} LIMIT ${limit})`;
  },
  // SQLite has no LATERAL. CROSS JOIN makes SQLite read the elements in the outer loop and the table in the inner loop.
  firstRowsOfEach: ({ json, table, key, condition, order, limit }) => {
    const first = sql`SELECT ${sql(key)} FROM ${sql(table)} WHERE ${condition}
      ORDER BY ${sql.literal(order)} LIMIT ${limit}`;
    return sql`json_each(${json}) CROSS JOIN ${sql(table)} ON ${condition} AND ${sql(key)} IN (${first})`;
  },
  rowsOfEach: ({ each, table, condition }) => sql`${each} CROSS JOIN ${sql(table)} ON ${condition}`,
  commitsInOrder: true,
  onlyOne: () => sql`(SELECT 0 AS locks) AS held`,
  rowsWritten: ({ raw }) =>
    Effect.map(raw, (result) => Number((result as { readonly changes: number | bigint }).changes)),
  isRemote: false,
  asBulk: Effect.provideService(IsBulk, true),
  asStep: sql.withTransaction,
  withMigrationLock: sql.withTransaction,
});

/** On Postgres, columns of JSON are texts as on SQLite. */
export const castJson = (text: string): string => text.replaceAll(" ->> ", "::json ->> ");

const postgres = (sql: SqlClient.SqlClient): Dialect => ({
  schemaChange: (statement) =>
    castJson(statement)
      .replaceAll(/\bTEXT\b/g, 'TEXT COLLATE "C"')
      .replaceAll(/\bINTEGER\b/g, "BIGINT")
      .replace("SEQUENCE", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"),
  elements: (json) => sql`json_array_elements(${json}::json) AS element (value)`,
  isAmong: (values) => sql`= ANY (ARRAY (SELECT json_array_elements_text(${JSON.stringify(values)}::json)))`,
  // Postgres would plan IN as a join that scans the whole table.
  isAnyOf: (select) => sql`= ANY (ARRAY (${select}))`,
  forUpdate: sql.literal("FOR UPDATE"),
  forReference: sql.literal("FOR KEY SHARE"),
  forChange: sql.literal("FOR NO KEY UPDATE"),
  forUpdateUnlocked: sql.literal("FOR UPDATE SKIP LOCKED"),
  usersInUse: (chatIds) => sql`(
      SELECT COUNT(pg_advisory_xact_lock_shared(hashtextextended(value, 0))) AS locks
      FROM json_array_elements_text(${JSON.stringify(chatIds)}::json)
    ) AS held`,
  // Select the rows by ctid: with many primary keys instead, Postgres would scan the whole table. Partitions of a table
  // have equal ctids, so the rows must meet the condition too. IS TRUE keeps Postgres from reading all rows that do.
  deleteFirst: ({ table, order, condition, limit }) => sql`DELETE FROM ${sql(table)} WHERE ctid = ANY (ARRAY (
      SELECT ctid FROM ${sql(table)} WHERE ${condition} ORDER BY ${sql.literal(order)}
      LIMIT ${limit} FOR UPDATE SKIP LOCKED)) AND (${condition}) IS TRUE`,
  firstRowsOfEach: ({ json, table, condition, order, limit }) => sql`
    json_array_elements(${json}::json) AS element (value) CROSS JOIN LATERAL (
      SELECT * FROM ${sql(table)} WHERE ${condition} ORDER BY ${sql.literal(order)} LIMIT ${limit}
    ) AS found`,
  rowsOfEach: ({ each, table, condition }) => sql`
    ${each} CROSS JOIN LATERAL (SELECT * FROM ${sql(table)} WHERE ${condition} OFFSET 0) AS found`,
  commitsInOrder: false,
  onlyOne: (name) => sql`(
      SELECT COUNT(pg_advisory_xact_lock(hashtextextended(${name}, 0))) AS locks
    ) AS held`,
  rowsWritten: ({ raw }) => Effect.map(raw, (result) => (result as { readonly rowCount: number }).rowCount),
  isRemote: true,
  asBulk: (transaction) => withTimeout(sql, 60_000, transaction),
  asStep: (step) => step,
  withMigrationLock: (transaction) => {
    const lock = sql<Locked>`SELECT pg_try_advisory_xact_lock(${lockKey}) AS is_locked`;
    // While a schema change waits for a lock on a table, all later statements on this table wait behind it. So it gives
    // way soon, and is tried again.
    const limitWait = sql`SET LOCAL lock_timeout = 500`;
    const once = Effect.flatMap(lock, ([row]) =>
      row?.is_locked === true ? Effect.asSome(Effect.andThen(limitWait, transaction)) : Effect.succeedNone,
    );
    return untilLocked(withTimeout(sql, hourMs, once));
  },
});

interface Locked {
  readonly is_locked: boolean;
}

/**
 * Asks for the lock of migrations again and again. A statement that waited for it would have a snapshot, for whose end
 * `besideWrites` waits.
 */
const untilLocked = <A, E, R>(once: Effect.Effect<Option.Option<A>, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(
    once,
    Option.match({
      onSome: Effect.succeed,
      onNone: () => Effect.andThen(Effect.sleep("200 millis"), untilLocked(once)),
    }),
  );

const isLost = ({ reason }: SqlError.SqlError): boolean => reason._tag === "ConnectionError";

/**
 * Runs a statement of Postgres that cannot be in a transaction and takes long, such as `CREATE INDEX CONCURRENTLY`. It
 * waits for transactions of others, which do not wait for it. Only one node runs such a statement, or a migration.
 *
 * @param condition SQL that is true if the statement is still to be run once no other node runs one
 */
export const besideWrites = (
  sql: SqlClient.SqlClient,
  statement: string,
  condition = "true",
): Effect.Effect<void, SqlError.SqlError> => {
  const once = Effect.gen(function* () {
    const connection = yield* sql.reserve;
    const run = (text: string) => connection.execute(text, [], undefined);
    const [row] = yield* run(`SELECT pg_try_advisory_lock(${lockKey}) AS is_locked`);
    if ((row as Locked | undefined)?.is_locked !== true) return Option.none();
    const settings = ["statement_timeout", "lock_timeout"];
    const work = [...settings.map((name) => `SET ${name} = 0`), statement];
    const end = [...settings.map((name) => `RESET ${name}`), `SELECT pg_advisory_unlock(${lockKey})`];
    yield* Effect.flatMap(run(`SELECT 1 WHERE ${condition}`), (rows) =>
      Effect.forEach(rows.length === 0 ? [] : work, run, { discard: true }),
    ).pipe(Effect.tapError((error) => (isLost(error) ? Effect.void : Effect.forEach(end, run))));
    yield* Effect.forEach(end, run);
    return Option.some(undefined);
  });
  return untilLocked(Effect.scoped(once)).pipe(Effect.provideService(TransactionTimeout, hourMs));
};

/** An arbitrary number that no other program uses. It must be the same in every release. */
const lockKey = 22_268_854_654;

/** Whether transactions in this context are over many rows. */
export const IsBulk = Context.Reference<boolean>("@accountlink/sql/IsBulk", { defaultValue: () => false });

/** The timeout of transactions in this context, in milliseconds; null uses the timeout of the pool. */
export const TransactionTimeout = Context.Reference<number | null>("@accountlink/sql/TransactionTimeout", {
  defaultValue: () => null,
});

/**
 * Runs a transaction with another timeout.
 *
 * @param time in milliseconds
 */
const withTimeout = <A, E, R>(sql: SqlClient.SqlClient, time: number, transaction: Effect.Effect<A, E, R>) =>
  sql`
    SELECT set_config(name, ${time}::text, true)
    FROM (VALUES ('statement_timeout'), ('lock_timeout'), ('idle_in_transaction_session_timeout')) AS settings (name)`.pipe(
    Effect.andThen(transaction),
    sql.withTransaction,
    Effect.provideService(TransactionTimeout, time),
  );

const dialects = new WeakMap<SqlClient.SqlClient, Dialect>();

/** The dialect of a client for SQLite or Postgres. Throws for any other database. */
export const dialectOf = (sql: SqlClient.SqlClient): Dialect => {
  const known = dialects.get(sql);
  if (known !== undefined) return known;
  const made = sql.onDialectOrElse({
    sqlite: () => sqlite(sql),
    pg: () => postgres(sql),
    orElse: () => {
      throw new TypeError(
        `Cannot speak to "${sql.driver}": it has no dialect, expected a client for SQLite or Postgres`,
      );
    },
  });
  dialects.set(sql, made);
  return made;
};
