/** All that is kept about one chat user, in SQL. */
import { type ChatId, type EraseUser, Pid, type Sighting, UserStore } from "@accountlink/core";
import { Effect, Layer, Schema } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "./internal/dialect.ts";
import { flowColumns, readFlows } from "./internal/flow_row.ts";
import { readAccounts, readScopes } from "./internal/key_row.ts";
import { readRecords } from "./internal/link_row.ts";
import { operation } from "./internal/operation.ts";
import { schemaReaderOf } from "./internal/row.ts";
import { readSessions, sessionColumns } from "./internal/session_row.ts";
import { userEntriesOn } from "./internal/user_entries.ts";
import { eraseUserOn } from "./internal/user_erasure.ts";

/** Users on the database of the client, whose schema has been migrated. */
export const layer: Layer.Layer<UserStore, never, SqlClient.SqlClient> = Layer.effect(
  UserStore,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const find = findUserOn(sql);
    const erase = eraseUserOn(sql);
    const { patiently, isRemote } = dialectOf(sql);
    // In SQLite a transaction would keep every writer waiting.
    const withTime = isRemote ? sql.withTransaction : <A>(reads: A) => reads;
    return UserStore.of({
      find: (chatId) => patiently(withTime(find(chatId))).pipe(operation("UserStore.find")),
      erase: (write: EraseUser) =>
        patiently(erase(write)).pipe(
          Effect.catchTag("RecordElsewhere", () => Effect.succeedNone),
          operation("UserStore.erase", write.pseudonym),
        ),
    });
  }),
);

const findUserOn = (sql: SqlClient.SqlClient) => {
  const { isAnyOf } = dialectOf(sql);
  const findEntries = userEntriesOn(sql);
  const [sessionFields, flowFields] = [sql.literal(sessionColumns), sql.literal(flowColumns)];

  return Effect.fnUntraced(function* (chatId: ChatId) {
    const isTheirs = sql`pid ${isAnyOf(sql`SELECT pid FROM scopes`)} AND chat_id = ${chatId}`;
    const accounts = yield* Effect.flatMap(
      sql`SELECT name, chat_id, tier FROM accounts WHERE chat_id = ${chatId} ORDER BY name`,
      readAccounts,
    );
    const rows = yield* sql`
      SELECT links.pid, account, guild_id, chat_id, game_id, link_version, linked_at, last_verified_at
      FROM links JOIN scopes ON scopes.pid = links.pid
      WHERE links.pid ${isAnyOf(sql`SELECT pid FROM scopes`)} AND chat_id = ${chatId} ORDER BY links.pid`;
    const [scopes, records] = [yield* readScopes(rows), yield* readRecords(rows)];
    return {
      accounts,
      records: scopes.flatMap((scope, index) => {
        const record = records[index];
        return record === undefined ? [] : [{ scope, record }];
      }),
      sightings: yield* Effect.flatMap(
        sql`
          SELECT pid, chat_id, address_hash, sealed_address, address_key_id, seen_at FROM sightings
          WHERE ${isTheirs} ORDER BY seen_at, pid, address_hash`,
        readSightings,
      ),
      sessions: yield* Effect.flatMap(
        sql`
          SELECT ${sessionFields} FROM verification_sessions WHERE chat_id = ${chatId} ORDER BY created_at, sid`,
        readSessions,
      ),
      flows: yield* Effect.flatMap(
        sql`SELECT ${flowFields} FROM verification_flows WHERE ${isTheirs} ORDER BY expires_at, id`,
        readFlows,
      ),
      entries: yield* findEntries(
        chatId,
        accounts.map(({ name }) => name),
      ),
    };
  });
};

const readSightings = schemaReaderOf(
  "sightings",
  Schema.Struct({
    pid: Pid,
    chat_id: Schema.String,
    address_hash: Schema.String,
    sealed_address: Schema.String,
    address_key_id: Schema.String,
    seen_at: Schema.Int,
  }),
  ({ pid, chat_id, address_hash, sealed_address, address_key_id, seen_at }) => ({
    pid,
    sighting: {
      chatId: chat_id as ChatId,
      address: { hash: address_hash, sealed: sealed_address, addressKeyId: address_key_id },
      seenAt: seen_at,
    } satisfies Sighting,
  }),
);
