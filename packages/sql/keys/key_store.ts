import { KeyStore } from "@accountlink/core/keys";
import type { Millis } from "@accountlink/core/timestamp";
import { Array as Arr, Effect, Layer } from "effect";
import { SqlClient, SqlConnection, type Statement } from "effect/sql";
import { batchedLookup } from "../statements/batching.ts";
import { dialectOf } from "../statements/dialect.ts";
import { storeOperation } from "../statements/store_operation.ts";
import { accountOperations } from "./account_operations.ts";
import {
  keyColumns,
  keyTables,
  readCounts,
  readDetails,
  readKeyIds,
  readKeys,
  readPresentedKeys,
} from "./key_row.ts";
import { countKeys, keyWrites } from "./key_writes.ts";

export const layer: Layer.Layer<KeyStore, never, SqlClient.SqlClient | SqlConnection.Connection> =
  Layer.effect(
    KeyStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient;
      const connection = yield* SqlConnection.Connection;
      return KeyStore.of({ ...accountOperations(sql), ...keyLookups(sql, connection), ...keyWrites(sql) });
    }),
  );

type Operations<Names extends keyof KeyStore["Service"]> = Pick<KeyStore["Service"], Names>;

const keyLookups = (
  sql: SqlClient.SqlClient,
  connection: SqlConnection.Connection,
): Operations<"findByHash" | "findById" | "findDetails" | "acceptedAmong" | "listKeys" | "countKeys"> => {
  const byHash = (hash: Statement.Fragment) => sql`
    SELECT ${keyColumns}, key_secrets.hash, key_secrets.ends_at AS secret_ends_at
    FROM ${keyTables} JOIN key_secrets ON key_secrets.key_id = keys.id
    WHERE key_secrets.hash = ${hash}`;
  const detailsAt = (at: Millis) => sql`
    ${keyColumns}, keys.last_used_at, keys.revoked_at, (
      SELECT MAX(ends_at) FROM key_secrets
      WHERE key_id = keys.id AND ends_at > ${at} AND (keys.expires_at IS NULL OR keys.expires_at > ${at})
    ) AS previous_secret_ends_at`;
  const { isAmong, isRemote } = dialectOf(sql);
  const [one] = byHash(sql`${""}`).compile();
  const presented = isRemote
    ? batchByHash(sql, connection, byHash)
    : (hash: string) => connection.execute(one, [hash], undefined);

  return {
    findByHash: (hash) =>
      presented(hash).pipe(
        Effect.flatMap(readPresentedKeys),
        Effect.map(Arr.head),
        storeOperation("KeyStore.findByHash", hash),
      ),

    findById: (id) =>
      sql`SELECT ${keyColumns} FROM ${keyTables} WHERE keys.id = ${id}`.pipe(
        Effect.flatMap(readKeys),
        Effect.map(Arr.head),
        storeOperation("KeyStore.findById"),
      ),

    findDetails: (id, at) =>
      sql`SELECT ${detailsAt(at)} FROM ${keyTables} WHERE keys.id = ${id}`.pipe(
        Effect.flatMap(readDetails),
        Effect.map(Arr.head),
        storeOperation("KeyStore.findDetails"),
      ),

    acceptedAmong: (ids, at) =>
      sql`
        SELECT id FROM keys
        WHERE id ${isAmong(JSON.stringify(ids))} AND status = 'active' AND suspended = 0
          AND (expires_at IS NULL OR expires_at > ${at})`.pipe(
        Effect.flatMap(readKeyIds),
        storeOperation("KeyStore.acceptedAmong"),
      ),

    listKeys: (account, at) =>
      sql`
        SELECT ${detailsAt(at)} FROM ${keyTables}
        ${account === null ? sql.literal("") : sql`WHERE scopes.account = ${account}`}
        ORDER BY keys.created_at, keys.id`.pipe(
        Effect.flatMap(readDetails),
        storeOperation("KeyStore.listKeys", account ?? ""),
      ),

    countKeys: (account) =>
      countKeys(sql, account).pipe(
        Effect.flatMap(readCounts),
        Effect.map(([count = 0]) => count),
        storeOperation("KeyStore.countKeys", account),
      ),
  };
};

/** Batches key lookups, since every request needs one. */
const batchByHash = (
  sql: SqlClient.SqlClient,
  connection: SqlConnection.Connection,
  byHash: (hash: Statement.Fragment) => Statement.Fragment,
) => {
  // The LIMIT forces index lookups; a plain join would scan small tables.
  const [text] = sql`
    SELECT found.* FROM ${dialectOf(sql).elements("")} CROSS JOIN LATERAL (
      ${byHash(sql.literal("value ->> 0"))} LIMIT 1
    ) AS found`.compile();
  return batchedLookup<[hash: string]>(["hash"], (hashes) =>
    connection.execute(text, [JSON.stringify(hashes)], undefined),
  );
};
