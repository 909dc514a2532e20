/**
 * The wrapped root key, in one row. Nodes of the previous release derive their keys from the
 * secret, which becomes the root key of a database with accounts.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";

export const rootKey = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const { text, integer, tableByKey } = dialectOf(sql);

  yield* sql`
    CREATE TABLE root_key (
      id ${integer} NOT NULL PRIMARY KEY CHECK (id = 1),
      wrapped ${text} NOT NULL
    ) ${tableByKey}`;
});
