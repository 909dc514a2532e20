/** The root key in any storage. */
import { Effect, Schema } from "effect";
import { recordType } from "./records/record_type.ts";
import { recordStore, type Tx } from "./records/records.ts";
import { RootKeyStore } from "./secrets/root_key.ts";
import { assertStorable } from "./storable_text.ts";

/** One record. `recordTypes` leaves out its type, since moves store it after all others. @internal */
export const rootKeys = recordType({
  name: "root_key",
  fields: { id: Schema.Literal(1), wrapped: Schema.String },
  key: [],
  indexes: {},
});

/** @internal */
export const findRootKey = (tx: Tx) => Effect.map(tx.get(rootKeys), (stored) => stored?.wrapped ?? null);

/** @internal */
export const storedRootKey = recordStore(RootKeyStore, ({ read, write }) => ({
  find: () => read("find", findRootKey),

  adopt: Effect.fnUntraced(function* (wrapped: string) {
    assertStorable([wrapped]);
    const known = yield* read("adopt", findRootKey);
    if (known !== null) return known;
    return yield* write("adopt", "root key", function* (tx) {
      const stored = yield* findRootKey(tx);
      if (stored === null) yield* tx.create(rootKeys, { id: 1, wrapped });
      return stored ?? wrapped;
    });
  }),

  replace: (expected, next) =>
    write("replace", "root key", function* (tx) {
      assertStorable([expected, next]);
      if ((yield* findRootKey(tx)) !== expected) return false;
      // SQL stores a record in place of another by its key, which this type lacks.
      yield* tx.remove(rootKeys);
      yield* tx.create(rootKeys, { id: 1, wrapped: next });
      return true;
    }),
}));
