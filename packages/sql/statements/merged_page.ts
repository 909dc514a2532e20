import type { SqlClient, Statement } from "effect/sql";

/**
 * A SELECT that merges the first rows of several selects, so that each of them can use its own index.
 *
 * @param selects must not be empty
 * @param page the ORDER BY and LIMIT of each select and of the merged rows
 */
export const mergedPage = (
  sql: SqlClient.SqlClient,
  selects: ReadonlyArray<Statement.Fragment>,
  page: Statement.Fragment,
): Statement.Statement<Record<string, unknown>> => {
  const all = selects
    .map((select) => sql`SELECT * FROM (${select} ${page}) AS part`)
    .reduce((some, next) => sql`${some} UNION ALL ${next}`);
  return sql`SELECT * FROM (${all}) AS merged ${page}`;
};
