/**
 * The wrapped root key: one row. A node of the release before derives its keys from the secret, which is the root key that
 * a node of this release stores when it finds accounts.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../internal/dialect.ts";

export const rootKey = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const { text, integer, tableByKey } = dialectOf(sql);

  yield* sql`
    CREATE TABLE root_key (
      id ${integer} NOT NULL PRIMARY KEY CHECK (id = 1),
      wrapped ${text} NOT NULL
    ) ${tableByKey}`;
});
