/**
 * Deletes all links, sightings and alt reviews of a scope.
 *
 * A large scope is deleted in short transactions before the final one, unless the idempotency key of the deletion is
 * taken. So others write between them on SQLite, and on Postgres none holds its locks for long. The first transaction and
 * each that deletes links add their number to the audit entry, and add an event. So the audit entry and the events are
 * right wherever a deletion is interrupted. A repeated deletion removes the rows that are left.
 */
import type { WriteContext } from "@accountlink/core/audit";
import { endImports, fileSources } from "@accountlink/core/imports";
import { scopeDeleted } from "@accountlink/core/journal";
import { type DeleteScope, keptDeletion } from "@accountlink/core/links";
import { endVerifications, recordTypes } from "@accountlink/core/storage";
import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import { insertPart } from "../journal/records.ts";
import { keyColumnsOf } from "../record_table.ts";
import { withTx } from "../records.ts";
import { isKeyFree, keyedWriteOn, keyInUse } from "../statements/keyed_write.ts";
import type { StoreParts } from "../statements/store_operation.ts";

/** The records that short transactions deleted before the final one. */
interface DeletedAhead {
  readonly records: number;
  /** The sequence number of the audit entry that states how many records were deleted. */
  readonly entry: number;
}

export const scopeDeletionOn = (parts: StoreParts) => {
  const { sql, operation, asBulk, deleteFirst, forUpdate, isRemote, rowsWritten } = parts;
  // SQLite has one writer, and Postgres needs a round trip for each statement.
  const most = isRemote ? 1_000 : 200;

  const deleteFew = Effect.fnUntraced(
    function* (
      write: WriteContext,
      { name, primaryKey }: (typeof tables)[number],
      before: DeletedAhead | null,
    ) {
      const inScope = sql`pid = ${write.pid}`;
      // Locks the scope first, as `deleteRest` does.
      yield* sql`SELECT pid FROM scopes WHERE ${inScope} ${forUpdate}`;
      const more = yield* sql`SELECT 1 FROM ${sql(name)} WHERE ${inScope} LIMIT 1 OFFSET ${most}`;
      if (more.length === 0) return null;
      const order = primaryKey.join(", ");
      const deleted = yield* rowsWritten(
        deleteFirst({ table: name, primaryKey, order, condition: inScope, limit: most }),
      );
      // Readers list all links anew after each event.
      if (before !== null && name !== "links") return before;
      return yield* countDeletion(sql, write, before, name === "links" ? deleted : 0);
    },
    (few) => asBulk(sql.withTransaction(few)),
  );

  /**
   * Deletes rows of the tables of which a scope may have many in short transactions, until each has at most `most` rows of
   * the scope.
   */
  const deleteAhead = operation("deleteScope", function* (write: DeleteScope) {
    let ahead: DeletedAhead | null = null;
    for (const table of tables) {
      if (table.name === "blocks" && write.keepsBlocks === true) continue;
      for (;;) {
        const deleted: DeletedAhead | null = yield* deleteFew(write, table, ahead);
        if (deleted === null) break;
        ahead = deleted;
      }
    }
    return ahead;
  });

  const deleteRest = keyedWriteOn(parts, "bulkTransaction")(
    "deleteScope",
    keptDeletion,
    function* (write: DeleteScope & { readonly ahead: DeletedAhead | null }) {
      const { pid, at, ahead } = write;
      // Waits for transactions that add records, so that the DELETE sees them.
      const locked = yield* sql`SELECT pid FROM scopes WHERE pid = ${pid} ${forUpdate}`;
      if (locked.length === 0)
        return yield* Effect.die(new Error(`Cannot delete the data of scope "${pid}": it does not exist`));
      const rest = yield* rowsWritten(sql`DELETE FROM links WHERE pid = ${pid}`);
      // From here on in the order of an erasure, so that the two make no deadlock.
      const ended = yield* withTx(sql, (tx) => endVerifications(tx, { pid, chatId: null, at }), true);
      for (const { name } of recordsOfScope) yield* sql`DELETE FROM ${sql(name)} WHERE pid = ${pid}`;
      if (write.keepsBlocks !== true) yield* sql`DELETE FROM blocks WHERE pid = ${pid}`;
      yield* sql`DELETE FROM block_removals WHERE pid = ${pid}`;
      yield* withTx(sql, (tx) => endImports(tx, pid), true);
      const { from, before } = fileSources(pid);
      yield* sql`DELETE FROM import_progress WHERE source >= ${from} AND source < ${before}`;
      const { records } = yield* countDeletion(sql, write, ahead, rest);
      return { records, ended };
    },
  );

  const checkKey = operation("deleteScope", (write: DeleteScope) => isKeyFree(sql, write.once));
  return Effect.fnUntraced(function* (write: DeleteScope) {
    if (!(yield* checkKey(write))) return yield* keyInUse();
    return yield* deleteRest({ ...write, ahead: yield* deleteAhead(write) });
  });
};

const recordsOfScope = recordTypes.filter(({ isOfScope }) => isOfScope);

const tables = [
  { name: "links", primaryKey: ["pid", "chat_id"] },
  { name: "blocks", primaryKey: ["pid", "user_hash"] },
  ...recordsOfScope.map((type) => ({ name: type.name, primaryKey: keyColumnsOf(type) })),
];

/** Adds deleted records to the count in the audit entry, in the transaction that deletes them. */
const countDeletion = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  write: WriteContext,
  before: DeletedAhead | null,
  deleted: number,
) {
  const records = (before?.records ?? 0) + deleted;
  const entry = yield* insertPart(sql, write.pid, scopeDeleted(write, records), before?.entry ?? null);
  return { records, entry: entry as number };
});
