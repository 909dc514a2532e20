import { ImportStore } from "@accountlink/core/imports";
import { Effect } from "effect";
import { importBatch, progress } from "./import_batch.ts";
import { sweepUndo, undoOperations } from "./import_undo.ts";
import { storeLayer } from "./store_layer.ts";

export const layer = storeLayer(ImportStore, (db) => ({
  importBatch: (batch) => importBatch(db, batch),

  importPosition: (source) =>
    db.read((tx) => Effect.map(tx.get(progress, source), (saved) => saved?.position ?? 0)),

  ...undoOperations(db),

  sweep: (at) => sweepUndo(db, at),
}));
