/** Records what imports do to links, before a batch does it. */
import type { Pid } from "@accountlink/core";
import { type ImportedFile, importedLinks } from "@accountlink/core/imports";
import type { Statement } from "effect/sql";
import { isNone } from "../links/link_statements.ts";
import { literalSql } from "../statements/row.ts";
import type { StoreParts } from "../statements/store_operation.ts";

const columns = Object.values(importedLinks.columns);

/** If the record is as an earlier batch of the import made it, the undo restores what was before that batch. */
const previous = columns
  .filter((column) => column.startsWith("previous_"))
  .map(
    (column) => `${column} = CASE
      WHEN import_links.game_id = excluded.previous_game_id AND import_links.verified_at = excluded.previous_verified_at
      THEN import_links.${column} ELSE excluded.${column} END`,
  );

export const madeLinksOn = ({ sql, elements, rowsOfEach }: StoreParts) => {
  /** Records links that replace others, from a SELECT of all columns in their order. */
  const insertMade = (select: Statement.Fragment) => sql`
    INSERT INTO import_links (${literalSql(columns.join(", "))})
    ${select}
    ON CONFLICT (import_id, chat_id) DO UPDATE SET ${literalSql(previous.join(", "))},
      game_id = excluded.game_id, link_version = excluded.link_version, verified_at = excluded.verified_at`;

  return {
    /** Records the users who were never linked, before the batch inserts their links. */
    recordNew: (pid: Pid, { id }: ImportedFile, lines: string) => {
      // Postgres could plan a join that reads all links of the scope.
      const versionOf = sql`SELECT link_version FROM links WHERE pid = ${pid} AND chat_id = value ->> 0`;
      return insertMade(sql`
        SELECT ${id}, value ->> 0, value ->> 1, COALESCE((${versionOf}), 0) + 1, CAST(value ->> 2 AS BIGINT),
          NULL, CAST(NULL AS BIGINT), CAST(NULL AS BIGINT), NULL, CAST(NULL AS BIGINT)
        FROM ${elements(lines)} WHERE (${versionOf} AND NOT (${isNone})) IS NULL`);
    },

    /** Records the links that the batch will replace. `condition` says which. */
    recordReplaced: (pid: Pid, { id }: ImportedFile, lines: string, condition: Statement.Fragment) => {
      const linksOfLines = rowsOfEach({
        each: elements(lines),
        table: "links",
        condition: sql`pid = ${pid} AND chat_id = value ->> 0`,
      });
      return insertMade(sql`
        SELECT ${id}, chat_id, value ->> 1,
          link_version + CASE WHEN game_id = value ->> 1 THEN 0 ELSE 1 END, CAST(value ->> 2 AS BIGINT),
          game_id, linked_at, last_verified_at, proof, proven_at
        FROM ${linksOfLines}
        WHERE (game_id IS DISTINCT FROM value ->> 1 OR last_verified_at <> CAST(value ->> 2 AS BIGINT)) ${condition}`);
    },
  };
};
