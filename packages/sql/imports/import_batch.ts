/** Imports links in batches. The number of statements does not grow with the size of a batch. */
import {
  type BatchOutcome,
  beginPart,
  fixtureSource,
  type ImportableLink,
  type ImportBatch,
  importEnded,
  lastOfEach,
  logPart,
  progressKeptFor,
} from "@accountlink/core/imports";
import { linksImported } from "@accountlink/core/journal";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Schema } from "effect";
import type { SqlClient, Statement } from "effect/sql";
import { insertRecord } from "../journal/records.ts";
import { admissionOn } from "../links/admitted_links.ts";
import { isNone, relinkOf } from "../links/link_statements.ts";
import { dialectOf } from "../statements/dialect.ts";
import { columnReader } from "../statements/row.ts";
import { type Ending, rollBack, type StoreParts } from "../statements/store_operation.ts";
import { inImportTx } from "./import_tx.ts";
import { madeLinksOn } from "./made_links.ts";

/** Returns a function that stores a batch, for a transaction. */
export const batchImportOn = (parts: StoreParts) => {
  const { sql, elements, deleteFirst, rowsOfEach, rowsWritten } = parts;
  const { recordNew, recordReplaced } = madeLinksOn(parts);
  const { insert, isNewer, fresh, replace, newest } = importStatements(sql);
  const { lock } = admissionOn(sql);

  const importLinks = Effect.fnUntraced(function* (batch: ImportBatch, links: ReadonlyArray<ImportableLink>) {
    const { pid, existing, proof, file } = batch;
    const undoable = file?.isUndoable === true ? file : undefined;
    const lines = linesOf(links);
    if (undoable !== undefined) yield* recordNew(pid, undoable, lines);
    const inserted = yield* rowsWritten(insert({ pid, proof }, lines, fresh));
    const old = links.length - inserted;
    // No record has to be replaced if the import keeps existing records, or if all its records are new.
    const isKept = existing === "keep" || old === 0;
    const isNewest = existing === "newest";
    const renewing = isNewest ? linesOf(links.filter(({ isUntimed = false }) => !isUntimed)) : lines;
    if (!isKept && undoable !== undefined) {
      yield* recordReplaced(pid, undoable, renewing, isNewest ? isNewer : sql.literal(""));
    }
    const renewed = isNewest ? newest : replace;
    const replaced = isKept ? 0 : yield* rowsWritten(insert({ pid, proof }, renewing, renewed));
    const linksOfLines = rowsOfEach({
      each: elements(lines),
      table: "links",
      condition: sql`pid = ${pid} AND chat_id = value ->> 0 AND game_id = value ->> 1`,
    });
    const countSame = sql`SELECT CAST(COUNT(*) AS INTEGER) AS count FROM ${linksOfLines}`;
    const [same = 0] = old === replaced ? [links.length] : yield* readCounts(countSame);
    const unchanged = same - inserted - replaced;
    return { inserted, replaced, unchanged, kept: old - replaced - unchanged };
  });

  const saveProgress = Effect.fnUntraced(function* (source: string, position: number, at: Millis) {
    yield* putPosition(sql, source, position, at);
    yield* deleteFirst({
      table: "import_progress",
      primaryKey: ["source"],
      order: "saved_at",
      condition: sql`saved_at < ${at - progressKeptFor} AND source NOT LIKE ${`${fixtureSource}%`}`,
      limit: 100,
    });
  });

  return Effect.fnUntraced(function* (batch: ImportBatch): Effect.fn.Return<BatchOutcome, Ending> {
    const { pid, progress, at, file, holder, isContinued = false } = batch;
    assertStorable([progress?.source ?? "", file?.id ?? "", file?.name ?? ""]);
    const all = lastOfEach(batch.links);

    // Lock the scope before the records, like deleteScope, and sort new and old records together, to avoid deadlocks.
    const scope = yield* lock(pid);
    const begun = yield* inImportTx(parts, scope, (tx) => beginPart(tx, batch, all, isContinued));
    if (begun === null) return importEnded;
    const stored = yield* importLinks(batch, begun.links);
    const counts = { ...stored, kept: stored.kept + all.length - begun.links.length };
    const { inserted, replaced, unchanged, kept } = counts;
    if (progress !== null) yield* saveProgress(progress.source, progress.position, at);
    const count = inserted + replaced;
    if (file !== undefined) yield* inImportTx(parts, scope, (tx) => logPart(tx, batch, file, begun, counts));
    else if (count > 0) yield* insertRecord(sql, pid, linksImported(batch, count, { ...counts }));
    if (holder === undefined) return counts;
    const added = sql`
      UPDATE imports SET inserted = inserted + ${inserted}, replaced = replaced + ${replaced},
        unchanged = unchanged + ${unchanged}, kept = kept + ${kept}
      WHERE id = ${holder.id} AND holder = ${holder.node}`;
    return (yield* rowsWritten(added)) > 0 ? counts : yield* rollBack(importEnded);
  });
};

/** A JSON array of `[chatId, gameId, lastVerifiedAt]`. */
const linesOf = (links: ReadonlyArray<ImportableLink>): string =>
  JSON.stringify(links.map(({ chatId, gameId, lastVerifiedAt }) => [chatId, gameId, lastVerifiedAt]));

export const putPosition = (sql: SqlClient.SqlClient, source: string, position: number, at: Millis) => sql`
  INSERT INTO import_progress (source, position, saved_at) VALUES (${source}, ${position}, ${at})
  ON CONFLICT (source) DO UPDATE SET position = excluded.position, saved_at = excluded.saved_at`;

const readCounts = columnReader("links", "count", Schema.Int);

const importStatements = (sql: SqlClient.SqlClient) => {
  const { elements } = dialectOf(sql);
  const isNewer = sql.literal(
    "AND CAST(value ->> 2 AS BIGINT) > linked_at AND CAST(value ->> 2 AS BIGINT) > last_verified_at",
  );
  return {
    isNewer,

    /**
     * Inserts the links of an import.
     *
     * @param lines from `linesOf`, with each chat user at most once
     * @param existing the ON CONFLICT action for chat users who already have a row in `links`
     */
    insert: (
      { pid, proof }: Pick<ImportBatch, "pid" | "proof">,
      lines: string,
      existing: Statement.Fragment,
    ) => sql`
      INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at, proof)
      SELECT ${pid}, value ->> 0, value ->> 1, 1, CAST(value ->> 2 AS BIGINT), CAST(value ->> 2 AS BIGINT), ${proof}
      FROM ${elements(lines)} WHERE true
      ON CONFLICT (pid, chat_id) ${existing}`,

    /**
     * Writes records that do not exist, or say that the user was never linked. The database locks each existing record
     * before it evaluates the condition. So new and existing records are locked in one sorted order.
     */
    fresh: sql`${relinkOf(sql)} WHERE ${isNone}`,

    /** Skips records that would not change. */
    replace: sql`${relinkOf(sql)}
      WHERE links.game_id IS DISTINCT FROM excluded.game_id
        OR links.last_verified_at <> excluded.last_verified_at`,

    /** Replaces only records that were last changed and last verified before the verification time in the import. */
    newest: sql`${relinkOf(sql)}
      WHERE excluded.last_verified_at > links.linked_at AND excluded.last_verified_at > links.last_verified_at`,
  };
};
