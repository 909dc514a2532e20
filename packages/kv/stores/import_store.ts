import { ImportStore, importedLinks, linkImports, storedImports } from "@accountlink/core/imports";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect } from "effect";
import { kvTable } from "../record_tables.ts";
import { removeInSteps } from "../steps.ts";
import { importBatch, progress } from "./import_batch.ts";
import { importTxOf } from "./import_tx.ts";
import { storeLayer } from "./store_layer.ts";

export const layer = storeLayer(ImportStore, (db) => ({
  // A node that stops ends its batch: another one would count the links that parts have stored as unchanged.
  importBatch: (batch) => Effect.uninterruptible(importBatch(db, batch)),

  importPosition: (source) =>
    db.read((tx) => Effect.map(tx.get(progress, source), (saved) => saved?.position ?? 0)),

  savePosition: (source, position, savedAt) =>
    Effect.suspend(() => {
      assertStorable([source]);
      return db.write(source, (tx) => tx.put(progress, { source, position, savedAt }));
    }),

  ...storedImports({
    read: (_, body) => db.read((tx) => body(importTxOf(db, tx))),

    write: (_, pid, find, change) =>
      Effect.flatMap(
        db.read((tx) => find(importTxOf(db, tx))),
        (found) => db.write(pid, (tx) => change(importTxOf(db, tx), found)),
      ),

    removeEnded: Effect.fnUntraced(function* (ended, old) {
      for (const { id } of ended) yield* removeInSteps(db, kvTable(importedLinks), [id]);
      for (const { id, pid } of old) yield* db.write(pid, (tx) => tx.remove(kvTable(linkImports), id));
    }),
  }),
}));
