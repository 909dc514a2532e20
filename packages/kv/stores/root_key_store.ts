import { RootKeyStore } from "@accountlink/core/secrets";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect } from "effect";
import { Database } from "../database.ts";
import type { Kv } from "../kv.ts";
import { table } from "../table.ts";
import { storeLayer } from "./store_layer.ts";

export const rootKeys = table<{ readonly wrapped: string }>()("root_key", () => [], {});

/** Reads the wrapped root key; null before its creation. @internal */
export const readRootKey = (kv: Kv) => find(new Database(kv));

const find = (db: Database) =>
  db.read((tx) => Effect.map(tx.get(rootKeys), (stored) => stored?.wrapped ?? null));

export const layer = storeLayer(RootKeyStore, (db) => ({
  find: () => find(db),

  adopt: (wrapped) =>
    db.write("root key", function* (tx) {
      assertStorable([wrapped]);
      const stored = yield* tx.get(rootKeys);
      if (stored !== undefined) return stored.wrapped;
      yield* tx.put(rootKeys, { wrapped });
      return wrapped;
    }),

  replace: (expected, next) =>
    db.write("root key", function* (tx) {
      assertStorable([expected, next]);
      if ((yield* tx.get(rootKeys))?.wrapped !== expected) return false;
      yield* tx.put(rootKeys, { wrapped: next });
      return true;
    }),
}));
