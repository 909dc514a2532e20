/** The operations of `Tx` on keys. */
import type { KeyId } from "@accountlink/core";
import type { Millis } from "@accountlink/core/timestamp";
import { lastUsePrecision } from "@accountlink/core/usage";
import type { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { readKeyIds } from "./accounts.ts";

export const usedKeysOn = (sql: SqlClient.SqlClient) => {
  const { elements, isAmong, isRemote } = dialectOf(sql);
  return {
    keysOf: (account: string) =>
      readKeyIds(sql`
        SELECT keys.id FROM keys JOIN scopes ON scopes.pid = keys.pid WHERE scopes.account = ${account}`),

    noteUses: (uses: ReadonlyArray<{ readonly key: KeyId; readonly at: Millis }>) => {
      // `isUsed` lets Postgres find the keys by index. With the join alone, Postgres would scan all keys. On SQLite,
      // `isUsed` is left out, because with it, SQLite would read the list of uses again for each key.
      const isUsed = isRemote
        ? sql`keys.id ${isAmong(JSON.stringify(uses.map(({ key }) => key)))} AND`
        : sql``;
      return sql`
        UPDATE keys SET last_used_at = CAST(value ->> 1 AS BIGINT)
        FROM ${elements(JSON.stringify(uses.map(({ key, at }) => [key, at])))}
        WHERE keys.id = value ->> 0 AND ${isUsed} (
          last_used_at IS NULL OR last_used_at <= CAST(value ->> 1 AS BIGINT) - ${lastUsePrecision})`;
    },
  };
};
