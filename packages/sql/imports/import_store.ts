import { ImportStore, storedImports } from "@accountlink/core/imports";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect, Schema } from "effect";
import { admissionOn } from "../links/admitted_links.ts";
import { deleteInBatches } from "../statements/in_batches.ts";
import { columnReader } from "../statements/row.ts";
import { storeLayer } from "../statements/store_operation.ts";
import { batchImportOn, putPosition } from "./import_batch.ts";
import { inImportTx } from "./import_tx.ts";

const readPositions = columnReader("import_progress", "position", Schema.Int);

export const layer = storeLayer(ImportStore)((parts) => {
  const { sql, operation, bulkTransaction, isAmong } = parts;
  const { lock } = admissionOn(sql);

  return {
    importBatch: bulkTransaction("importBatch", batchImportOn(parts)),

    importPosition: operation("importPosition", function* (source) {
      assertStorable([source]);
      const [position = 0] = yield* readPositions(
        sql`SELECT position FROM import_progress WHERE source = ${source}`,
      );
      return position;
    }),

    savePosition: operation("savePosition", function* (source, position, at) {
      assertStorable([source]);
      yield* putPosition(sql, source, position, at);
    }),

    ...storedImports({
      read: (name, body) => operation(name, () => inImportTx(parts, null, body))(),

      write: (name, pid, find, change) =>
        bulkTransaction(name, function* () {
          const scope = yield* lock(pid);
          return yield* inImportTx(parts, scope, (tx) =>
            Effect.flatMap(find(tx), (found) => change(tx, found)),
          );
        })(),

      /** A few rows at a time, since one writer waits for another. */
      removeEnded: (ended, old) =>
        operation("sweep", function* () {
          const remove = (
            table: string,
            of: typeof old,
            primaryKey: readonly [string, ...ReadonlyArray<string>],
          ) => {
            const [order] = primaryKey;
            const condition = sql`${sql(order)} ${isAmong(of.map(({ id }) => id))}`;
            return deleteInBatches(sql, { table, primaryKey, order, condition });
          };
          yield* remove("import_links", ended, ["import_id", "chat_id"]);
          yield* remove("link_imports", old, ["id"]);
        })(),
    }),
  };
});
