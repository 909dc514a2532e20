import { ImportStore } from "@accountlink/core/imports";
import { assertStorable } from "@accountlink/core/storable_text";
import { Schema } from "effect";
import { columnReader } from "../statements/row.ts";
import { rollBack, storeLayer } from "../statements/store_operation.ts";
import { batchImportOn, ended } from "./import_batch.ts";
import { importUndoOn } from "./import_undo.ts";

const readPositions = columnReader("import_progress", "position", Schema.Int);

export const layer = storeLayer(ImportStore)((parts) => {
  const { sql, operation, bulkTransaction, wrote } = parts;
  const batchImport = batchImportOn(parts);

  return {
    importBatch: bulkTransaction("importBatch", function* (batch) {
      const { holder } = batch;
      const counts = yield* batchImport(batch);
      if (holder === undefined) return counts;
      const { inserted, replaced, unchanged, kept } = counts;
      const added = sql`
        UPDATE imports SET inserted = inserted + ${inserted}, replaced = replaced + ${replaced},
          unchanged = unchanged + ${unchanged}, kept = kept + ${kept}
        WHERE id = ${holder.id} AND holder = ${holder.node}`;
      return (yield* wrote(added)) ? counts : yield* rollBack(ended);
    }),

    importPosition: operation("importPosition", function* (source) {
      assertStorable([source]);
      const [position = 0] = yield* readPositions(
        sql`SELECT position FROM import_progress WHERE source = ${source}`,
      );
      return position;
    }),

    ...importUndoOn(parts),
  };
});
