import { RootKeyStore } from "@accountlink/core/secrets";
import { assertStorable } from "@accountlink/core/storable_text";
import { table } from "../table.ts";
import { storeLayer } from "./store_layer.ts";

const rootKeys = table<{ readonly wrapped: string }>()("root_key", () => [], {});

export const layer = storeLayer(RootKeyStore, (db) => ({
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
