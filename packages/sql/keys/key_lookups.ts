/** The lookup of keys by their secrets. Every request needs a key. */
import type { Pid } from "@accountlink/core";
import { earlierEnd, type KeyRecord, keyRecords, type PresentedKey } from "@accountlink/core/keys";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { Array as Arr, Effect, Struct } from "effect";
import type { Statement } from "effect/sql";
import { tableFor } from "../record_table.ts";
import { batchedLookup } from "../statements/batching.ts";
import { literalSql, OptionalInt, tableOf, type ValuesOf } from "../statements/row.ts";
import type { StoreParts } from "../statements/store_operation.ts";
import { scopeFields, withScope } from "./accounts.ts";

const columns = Object.values(keyRecords.columns).map((column) => `keys.${column}`);

/** The statement is prepared once, and on Postgres, lookups share it. */
export const keyLookups = (parts: StoreParts) => {
  const { sql, connection, operation, elements } = parts;
  const byHash = (hash: Statement.Fragment) => sql`
    SELECT ${literalSql(columns.join(", "))}, scopes.account, scopes.guild_id, key_secrets.hash,
      key_secrets.ends_at AS secret_ends_at
    FROM keys JOIN scopes ON scopes.pid = keys.pid JOIN key_secrets ON key_secrets.key_id = keys.id
    WHERE key_secrets.hash = ${hash}`;
  const [one] = byHash(sql`${""}`).compile();
  // The LIMIT forces index lookups; a plain join would scan small tables.
  const [several] = sql`
    SELECT found.* FROM ${elements("")} CROSS JOIN LATERAL (${byHash(sql.literal("value ->> 0"))} LIMIT 1) AS found`.compile();
  const presented = batchedLookup<[hash: string]>(parts, {
    columns: ["hash"],
    one: (hash) => connection.execute(one, [hash], undefined),
    several: (hashes) => connection.execute(several, [JSON.stringify(hashes)], undefined),
  });
  return {
    findByHash: operation("findByHash", (hash: string) => {
      assertStorable([hash]);
      return Effect.map(readPresented(presented(hash)), Arr.head);
    }),
  };
};

interface PresentedRow extends KeyRecord, ValuesOf<typeof scopeFields> {
  readonly pid: Pid;
  readonly secretEndsAt: Millis | null;
}

/** Reads the key of a presented secret, and when the secret expires, which is never later than the key. */
const readPresented = tableOf("keys", {
  ...tableFor(keyRecords).types,
  ...scopeFields,
  secretEndsAt: OptionalInt,
}).reader((row): PresentedKey => {
  const { secretEndsAt, ...key } = Struct.omit(row as unknown as PresentedRow, ["counts", "revokedAt"]);
  return { key: withScope(key), endsAt: earlierEnd(key.expiresAt, secretEndsAt) };
});
