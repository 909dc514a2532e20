/** What imports did, for their audit entries and their undo. */
import { Pid } from "@accountlink/core";
import {
  type BatchImported,
  type ImportBatch,
  type ImportedFile,
  undoableFor,
} from "@accountlink/core/imports";
import { linksImported } from "@accountlink/core/journal";
import { Effect, Schema, Struct } from "effect";
import type { Statement } from "effect/sql";
import { insertPart } from "../journal/records.ts";
import { isNone } from "../links/link_statements.ts";
import { tableOf } from "../statements/row.ts";
import type { StoreParts } from "../statements/store_operation.ts";

export const linkImports = tableOf("link_imports", {
  id: Schema.String,
  pid: Pid,
  name: Schema.String,
  imported_at: Schema.Int,
  ends_at: Schema.Int,
  inserted: Schema.Int,
  replaced: Schema.Int,
  unchanged: Schema.Int,
  kept: Schema.Int,
  entry: Schema.NullOr(Schema.Int),
  undo_entry: Schema.NullOr(Schema.Int),
  removed: Schema.Int,
  restored: Schema.Int,
});

export const readImports = linkImports.reader((row) => row);

const countsOf = (counts: BatchImported): BatchImported =>
  Struct.pick(counts, ["inserted", "replaced", "unchanged", "kept"]);

/** Writes what batches of imports do. Every function is for the transaction of a batch. */
export const importRecordsOn = ({ sql, elements, rowsOfEach }: StoreParts) => {
  /** Records links that replace others, from a SELECT. */
  const insertMade = (select: Statement.Fragment) => sql`
    INSERT INTO import_links (import_id, chat_id, game_id, link_version, verified_at,
      previous_game_id, previous_linked_at, previous_verified_at, previous_proof, previous_proven_at)
    ${select}
    ON CONFLICT (import_id, chat_id) DO UPDATE SET
      previous_game_id = ${ownOr("previous_game_id")},
      previous_linked_at = ${ownOr("previous_linked_at")},
      previous_verified_at = ${ownOr("previous_verified_at")},
      previous_proof = ${ownOr("previous_proof")},
      previous_proven_at = ${ownOr("previous_proven_at")},
      game_id = excluded.game_id, link_version = excluded.link_version, verified_at = excluded.verified_at`;

  /** If the record is as an earlier batch of the import made it, the undo restores what was before that batch. */
  const ownOr = (column: string) =>
    sql.literal(`CASE
      WHEN import_links.game_id = excluded.previous_game_id AND import_links.verified_at = excluded.previous_verified_at
      THEN import_links.${column} ELSE excluded.${column} END`);

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

    /** Returns whether a part of the file was logged, and the data of its scope was not deleted since. */
    isLogOpen: Effect.fnUntraced(function* (file: ImportedFile | undefined) {
      const found = yield* sql`SELECT 1 FROM link_imports WHERE id = ${file?.id ?? ""} AND ends_at > 0`;
      return found.length > 0;
    }),

    /** Logs a part of a batch in the entry of its file. */
    logPart: Effect.fnUntraced(function* (
      batch: ImportBatch,
      file: ImportedFile,
      batchCounts: BatchImported,
    ) {
      const { pid, at } = batch;
      const added = countsOf(batchCounts);
      const { inserted, replaced, unchanged, kept } = added;
      const [sum] = yield* readImports(sql`
        INSERT INTO link_imports ${sql.insert({
          id: file.id,
          pid,
          name: file.name,
          imported_at: at,
          ends_at: at + undoableFor,
          ...added,
          entry: null,
          undo_entry: null,
          removed: 0,
          restored: 0,
        })}
        ON CONFLICT (id) DO UPDATE SET inserted = link_imports.inserted + ${inserted},
          replaced = link_imports.replaced + ${replaced}, unchanged = link_imports.unchanged + ${unchanged},
          kept = link_imports.kept + ${kept}
        RETURNING ${linkImports.columns}`);
      if (sum === undefined) return;
      const count = inserted + replaced;
      const record = linksImported(batch, count, { file: file.name, ...countsOf(sum) });
      const entry = yield* insertPart(sql, pid, record, sum.entry, count > 0);
      if (entry !== sum.entry) yield* sql`UPDATE link_imports SET entry = ${entry} WHERE id = ${file.id}`;
    }),
  };
};
