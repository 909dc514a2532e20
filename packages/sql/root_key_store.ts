import { RootKeyStore } from "@accountlink/core/secrets";
import { assertStorable } from "@accountlink/core/storable_text";
import { Schema } from "effect";
import { columnReader } from "./statements/row.ts";
import { storeLayer } from "./statements/store_operation.ts";

export const layer = storeLayer(RootKeyStore)(({ sql, operation }) => {
  const find = readWrapped(sql`SELECT wrapped FROM root_key`);
  return {
    find: operation("find", function* () {
      const [stored = null] = yield* find;
      return stored;
    }),

    adopt: operation("adopt", function* (wrapped) {
      assertStorable([wrapped]);
      const [known] = yield* find;
      if (known !== undefined) return known;
      // If several nodes start together, one inserts the key, and the others wait for its commit.
      yield* sql`INSERT INTO root_key (id, wrapped) VALUES (1, ${wrapped}) ON CONFLICT (id) DO NOTHING`;
      const [stored = wrapped] = yield* find;
      return stored;
    }),

    replace: operation("replace", function* (expected, next) {
      assertStorable([expected, next]);
      const rows = yield* sql`
        UPDATE root_key SET wrapped = ${next} WHERE wrapped = ${expected} RETURNING wrapped`;
      return rows.length > 0;
    }),
  };
});

const readWrapped = columnReader("root_key", "wrapped", Schema.String);
