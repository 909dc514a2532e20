import type { Pid } from "@accountlink/core";
import { isAtAddress, type Sighting } from "@accountlink/core/addresses";
import { type ReprotectedSighting, SightingStore } from "@accountlink/core/alts";
import { Effect, Layer, Schema } from "effect";
import { SqlClient } from "effect/sql";
import { linkStatements } from "../links/link_statements.ts";
import { dialectOf } from "../statements/dialect.ts";
import { schemaReaderOf } from "../statements/row.ts";
import { storeOperation } from "../statements/store_operation.ts";
import { countUsersOn, findSharedOn } from "./sighting_reads.ts";
import { readSightings, sightingColumns, storeSightings } from "./sighting_row.ts";

export const layer: Layer.Layer<SightingStore, never, SqlClient.SqlClient> = Layer.effect(
  SightingStore,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const { withBulkTimeout, isAmong } = dialectOf(sql);
    const reprotect = reprotectOn(sql);
    const findShared = findSharedOn(sql);
    const countUsers = countUsersOn(sql);
    return SightingStore.of({
      findByChatIds: (pid, chatIds) =>
        sql`
          SELECT ${sightingColumns} FROM sightings
          WHERE pid = ${pid} AND chat_id ${isAmong(JSON.stringify(chatIds))}`.pipe(
          Effect.flatMap(readSightings),
          Effect.map((found) => found.map(({ sighting }) => sighting)),
          storeOperation("SightingStore.findByChatIds"),
        ),

      findShared: (pid, query) => findShared(pid, query).pipe(storeOperation("SightingStore.findShared")),
      countUsers: (pid, places) => countUsers(pid, places).pipe(storeOperation("SightingStore.countUsers")),

      countByKey: () =>
        sql`
          SELECT address_key_id, COUNT(*) AS count FROM sightings
          WHERE address_key_id IS NOT NULL GROUP BY address_key_id`.pipe(
          Effect.flatMap(readCounts),
          sql.withTransaction,
          withBulkTimeout,
          Effect.map((counts) => new Map(counts)),
          storeOperation("SightingStore.countByKey"),
        ),

      listUnderOtherKeys: (addressKeyId, after, limit) => {
        const isAfter =
          after === null
            ? sql``
            : sql`AND (pid, chat_id, place_hash) > (${after.pid}, ${after.chatId}, ${after.address.hash})`;
        return sql`
          SELECT ${sightingColumns} FROM sightings
          WHERE address_key_id <> ${addressKeyId} ${isAfter}
          ORDER BY pid, chat_id, place_hash LIMIT ${limit}`.pipe(
          Effect.flatMap(readSightings),
          Effect.map((found) =>
            found.flatMap(({ pid, sighting }) => (isAtAddress(sighting) ? [{ pid, ...sighting }] : [])),
          ),
          sql.withTransaction,
          withBulkTimeout,
          storeOperation("SightingStore.listUnderOtherKeys", addressKeyId),
        );
      },

      reprotect: (pid, sightings) =>
        withBulkTimeout(reprotect(pid, sightings)).pipe(storeOperation("SightingStore.reprotect")),
    });
  }),
);

const reprotectOn = (sql: SqlClient.SqlClient) => {
  const { elements } = dialectOf(sql);
  const { lockScope } = linkStatements(sql);

  return Effect.fnUntraced(function* (pid: Pid, sightings: ReadonlyArray<ReprotectedSighting>) {
    // Lock the scope before the sightings, like deleteScope, to avoid deadlocks.
    yield* lockScope(pid);
    const named = JSON.stringify(sightings.map(({ chatId, hash }) => [chatId, hash]));
    const removed = yield* Effect.flatMap(
      sql`
        DELETE FROM sightings
        WHERE pid = ${pid} AND address_key_id IS NOT NULL AND (chat_id, place_hash) IN (
          SELECT value ->> 0, value ->> 1 FROM ${elements(named)})
        RETURNING chat_id, place_hash, seen_at`,
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
  Schema.Struct({ chat_id: Schema.String, place_hash: Schema.String, seen_at: Schema.Int }),
  ({ chat_id, place_hash, seen_at }) => [nameOf(chat_id, place_hash), seen_at] as const,
);
