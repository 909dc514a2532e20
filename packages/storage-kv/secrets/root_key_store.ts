import { RootKeyStore } from "@accountlink/core/secrets";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect, Layer } from "effect";
import { Database } from "../records/database.ts";
import { rootKeys } from "../records/schema.ts";

export const layer: Layer.Layer<RootKeyStore, never, Database> = Layer.effect(
  RootKeyStore,
  Effect.map(Database, (db) =>
    RootKeyStore.of({
      adopt: (wrapped) =>
        db.write("RootKeyStore.adopt", (tx) =>
          Effect.gen(function* () {
            assertStorable([wrapped]);
            const stored = yield* rootKeys.find(tx, "root");
            if (stored !== undefined) return stored.wrapped;
            yield* rootKeys.put(tx, { id: "root", wrapped });
            return wrapped;
          }),
        ),
      replace: (expected, next) =>
        db.write("RootKeyStore.replace", (tx) =>
          Effect.gen(function* () {
            assertStorable([expected, next]);
            const stored = yield* rootKeys.find(tx, "root");
            if (stored?.wrapped !== expected) return false;
            yield* rootKeys.put(tx, { id: "root", wrapped: next });
            return true;
          }),
        ),
    }),
  ),
);
