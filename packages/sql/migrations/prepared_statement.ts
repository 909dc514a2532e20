/** A statement of a step on Postgres, run alone before the step. If it is cut off, it can be repeated. */
import { Effect } from "effect";
import type { SqlClient, SqlError } from "effect/sql";
import { besideWrites, dialectOf } from "../statements/dialect.ts";

type Run<A> = Effect.Effect<A, SqlError.SqlError>;

const index = /^CREATE INDEX (\w+) ON (\w+)/;
const droppedIndex = /^DROP INDEX (\w+)/;
const column = /^ALTER TABLE (\w+) ADD COLUMN (\w+)/;

const first = (sql: SqlClient.SqlClient, query: string, names: ReadonlyArray<string>): Run<boolean> =>
  Effect.map(
    sql.unsafe<{ readonly found: boolean }>(`SELECT ${query} AS found`, names),
    ([row]) => row?.found === true,
  );

const isRelation = (sql: SqlClient.SqlClient, name: string) =>
  first(sql, "to_regclass($1) IS NOT NULL", [name]);

/** Whether the statement has nothing to do any more. It would wait for the locks of the table even then. */
export const isThere = (sql: SqlClient.SqlClient, statement: string): Run<boolean> => {
  const [, made] = index.exec(statement) ?? [];
  if (made !== undefined) return isRelation(sql, made);
  const [, dropped] = droppedIndex.exec(statement) ?? [];
  if (dropped !== undefined) return Effect.map(isRelation(sql, dropped), (isLeft) => !isLeft);
  const [, table, added] = column.exec(statement) ?? [];
  return table === undefined || added === undefined
    ? Effect.succeed(false)
    : first(
        sql,
        "EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = $2 AND NOT attisdropped)",
        [table, added],
      );
};

/** Runs the statement unless it is of a table that the step itself makes. */
export const prepare = (sql: SqlClient.SqlClient, statement: string): Run<void> =>
  Effect.gen(function* () {
    const { withMigrationLock } = dialectOf(sql);
    const [, name, table] = index.exec(statement) ?? [];
    if (name !== undefined && table !== undefined) return yield* buildIndex(sql, statement, name, table);
    if (yield* isThere(sql, statement)) return;
    const [, dropped] = droppedIndex.exec(statement) ?? [];
    if (dropped !== undefined && !(yield* isPartitioned(sql, dropped))) {
      yield* besideWrites(sql, `DROP INDEX CONCURRENTLY IF EXISTS ${dropped}`);
    }
    const [, changed] = column.exec(statement) ?? [];
    if (changed !== undefined && (yield* isRelation(sql, changed))) {
      yield* withMigrationLock(sql.unsafe(statement.replace("ADD COLUMN", "ADD COLUMN IF NOT EXISTS")));
    }
  });

const isPartitioned = (sql: SqlClient.SqlClient, name: string) =>
  first(sql, "EXISTS (SELECT 1 FROM pg_class WHERE oid = to_regclass($1) AND relkind IN ('p', 'I'))", [name]);

/** The index of a partitioned table takes over the indexes of its partitions, so the step builds nothing. */
const buildIndex = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  statement: string,
  name: string,
  table: string,
) {
  const rows = yield* sql.unsafe<{ readonly part: string; readonly is_whole: boolean }>(
    `SELECT oid::regclass::text AS part, oid = to_regclass($1) AS is_whole FROM pg_class
    WHERE relkind = 'r' AND (oid = to_regclass($1)
      OR oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = to_regclass($1)))`,
    [table],
  );
  for (const { part, is_whole: isWhole } of rows) {
    const built = isWhole ? name : `${part}_${name}`.slice(0, 63);
    // A build that was cut off leaves an index that nothing uses. One that another node still builds is whole in the end.
    const half = `EXISTS (SELECT 1 FROM pg_index WHERE indexrelid = to_regclass('${built}') AND NOT indisvalid)`;
    if (yield* first(sql, half, []))
      yield* besideWrites(sql, `DROP INDEX CONCURRENTLY IF EXISTS ${built}`, half);
    if (yield* isRelation(sql, built)) continue;
    yield* besideWrites(
      sql,
      statement.replace(index, `CREATE INDEX CONCURRENTLY IF NOT EXISTS ${built} ON ${part}`),
    );
  }
});
