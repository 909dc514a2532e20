/** The rotation of sightings in SQL. */
import { ChatId, Pid, type ReprotectedSighting, type Sighting, SightingStore } from "@accountlink/core";
import { Effect, Layer, Schema } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "./internal/dialect.ts";
import { linkStatements } from "./internal/link_statements.ts";
import { operation } from "./internal/operation.ts";
import { schemaReaderOf } from "./internal/row.ts";
import { storeSightings } from "./internal/store_sightings.ts";

/** The sightings on the database of the client, whose schema has been migrated. */
export const layer: Layer.Layer<SightingStore, never, SqlClient.SqlClient> = Layer.effect(
  SightingStore,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const { patiently } = dialectOf(sql);
    const reprotect = reprotectOn(sql);
    return SightingStore.of({
      countByKey: () =>
        sql`SELECT address_key_id, COUNT(*) AS count FROM sightings GROUP BY address_key_id`.pipe(
          Effect.flatMap(readCounts),
          sql.withTransaction,
          patiently,
          Effect.map((counts) => new Map(counts)),
          operation("SightingStore.countByKey"),
        ),

      listUnderOtherKeys: (addressKeyId, after, limit) => {
        const isAfter =
          after === null
            ? sql``
            : sql`AND (pid, chat_id, address_hash) > (${after.pid}, ${after.chatId}, ${after.address.hash})`;
        return sql`
          SELECT pid, chat_id, address_hash, sealed_address, address_key_id, seen_at FROM sightings
          WHERE address_key_id <> ${addressKeyId} ${isAfter}
          ORDER BY pid, chat_id, address_hash LIMIT ${limit}`.pipe(
          Effect.flatMap(readSightings),
          sql.withTransaction,
          patiently,
          operation("SightingStore.listUnderOtherKeys", addressKeyId),
        );
      },

      reprotect: (pid, sightings) =>
        patiently(reprotect(pid, sightings)).pipe(operation("SightingStore.reprotect")),
    });
  }),
);

const reprotectOn = (sql: SqlClient.SqlClient) => {
  const { elements, forReference } = dialectOf(sql);
  const { lockScope } = linkStatements(sql);

  return Effect.fnUntraced(function* (pid: Pid, sightings: ReadonlyArray<ReprotectedSighting>) {
    // Before the sightings, as in deleteScope, so that the two never wait for each other.
    yield* lockScope(pid, forReference);
    const named = JSON.stringify(sightings.map(({ chatId, hash }) => [chatId, hash]));
    const removed = yield* Effect.flatMap(
      sql`
        DELETE FROM sightings WHERE pid = ${pid} AND (chat_id, address_hash) IN (
          SELECT value ->> 0, value ->> 1 FROM ${elements(named)})
        RETURNING chat_id, address_hash, seen_at`,
      readRemoved,
    );
    const seenAt = new Map(removed);
    const kept = sightings.flatMap(({ chatId, hash, address }): ReadonlyArray<Sighting> => {
      const at = seenAt.get(nameOf(chatId, hash));
      return at === undefined ? [] : [{ chatId, address, seenAt: at }];
    });
    yield* storeSightings(sql, pid, kept);
  }, sql.withTransaction);
};

const nameOf = (chatId: string, hash: string): string => `${chatId} ${hash}`;

const readCounts = schemaReaderOf(
  "sightings",
  Schema.Struct({ address_key_id: Schema.String, count: Schema.Int }),
  ({ address_key_id, count }) => [address_key_id, count] as const,
);

const readRemoved = schemaReaderOf(
  "sightings",
  Schema.Struct({ chat_id: Schema.String, address_hash: Schema.String, seen_at: Schema.Int }),
  ({ chat_id, address_hash, seen_at }) => [nameOf(chat_id, address_hash), seen_at] as const,
);

const readSightings = schemaReaderOf(
  "sightings",
  Schema.Struct({
    pid: Pid,
    chat_id: ChatId,
    address_hash: Schema.String,
    sealed_address: Schema.String,
    address_key_id: Schema.String,
    seen_at: Schema.Int,
  }),
  ({ pid, chat_id, address_hash, sealed_address, address_key_id, seen_at }) => ({
    pid,
    chatId: chat_id,
    address: { hash: address_hash, sealed: sealed_address, addressKeyId: address_key_id },
    seenAt: seen_at,
  }),
);
