import type { ChatId } from "@accountlink/core";
import { isAtAddress, isInBrowser } from "@accountlink/core/addresses";
import { type EraseUser, type Places, UserStore } from "@accountlink/core/users";
import { Effect, Layer } from "effect";
import { SqlClient } from "effect/sql";
import { asSeenFrom, readReviews } from "../alts/alt_review_store.ts";
import { readSightings, sightingColumns } from "../alts/sighting_row.ts";
import { flowColumns, readFlows } from "../flow/flow_row.ts";
import { readSessions, sessionColumns } from "../flow/session_row.ts";
import { accountColumns, readAccounts, readScopes } from "../keys/key_row.ts";
import { readRecords } from "../links/link_row.ts";
import { findMembershipsOn } from "../member_store.ts";
import { findUserRolesOn } from "../roles/role_plan_store.ts";
import { readSignIns, signInColumns } from "../sign_in_store.ts";
import { dialectOf } from "../statements/dialect.ts";
import { storeOperation } from "../statements/store_operation.ts";
import { eraseUserOn, userEntriesOn } from "./user_erasure.ts";

export const layer: Layer.Layer<UserStore, never, SqlClient.SqlClient> = Layer.effect(
  UserStore,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const findRecords = findRecordsOn(sql);
    const find = findUserOn(sql);
    const erase = eraseUserOn(sql);
    const findSightings = findSightingsOn(sql);
    const { withBulkTimeout, isRemote, isAnyOf, rowsWritten } = dialectOf(sql);
    const forget = (chatId: ChatId, places: Places) =>
      Effect.map(
        sql`
          DELETE FROM sightings
          WHERE pid ${isAnyOf(sql`SELECT pid FROM scopes`)} AND chat_id = ${chatId}
            AND address_key_id IS ${places === "browsers" ? sql`NULL` : sql`NOT NULL`}`.raw,
        rowsWritten,
      );
    // On Postgres, `withBulkTimeout` needs a transaction. On SQLite, a transaction would block all writers.
    const inTransaction = isRemote ? sql.withTransaction : <A>(reads: A) => reads;
    return UserStore.of({
      find: (chatId) => withBulkTimeout(inTransaction(find(chatId))).pipe(storeOperation("UserStore.find")),
      findRecords: (chatId) => findRecords(chatId).pipe(storeOperation("UserStore.findRecords")),
      findSightings: (chatId) => findSightings(chatId).pipe(storeOperation("UserStore.findSightings")),
      forget: (chatId, places) => forget(chatId, places).pipe(storeOperation("UserStore.forget")),
      erase: (write: EraseUser) =>
        withBulkTimeout(erase(write)).pipe(
          Effect.catchTag("RecordElsewhere", () => Effect.succeedNone),
          storeOperation("UserStore.erase", write.pseudonym),
        ),
    });
  }),
);

const findRecordsOn = (sql: SqlClient.SqlClient) => {
  const { isAnyOf } = dialectOf(sql);
  return Effect.fnUntraced(function* (chatId: ChatId) {
    const rows = yield* sql`
      SELECT links.pid, account, guild_id, chat_id, game_id, link_version, linked_at, last_verified_at
      FROM links JOIN scopes ON scopes.pid = links.pid
      WHERE links.pid ${isAnyOf(sql`SELECT pid FROM scopes`)} AND chat_id = ${chatId} ORDER BY links.pid`;
    const [scopes, records] = [yield* readScopes(rows), yield* readRecords(rows)];
    return scopes.flatMap((scope, index) => {
      const record = records[index];
      return record === undefined ? [] : [{ scope, record }];
    });
  });
};

const findSightingsOn = (sql: SqlClient.SqlClient) => {
  const { isAnyOf } = dialectOf(sql);
  return (chatId: ChatId) =>
    Effect.flatMap(
      sql`
        SELECT ${sightingColumns} FROM sightings
        WHERE pid ${isAnyOf(sql`SELECT pid FROM scopes`)} AND chat_id = ${chatId}
        ORDER BY seen_at, pid, place_hash`,
      readSightings,
    ).pipe(
      Effect.map((seen) => ({
        sightings: seen.flatMap(({ pid, sighting }) => (isAtAddress(sighting) ? [{ pid, sighting }] : [])),
        browsers: seen.flatMap(({ sighting, ...found }) =>
          isInBrowser(sighting) ? [{ ...found, sighting }] : [],
        ),
      })),
    );
};

const findUserOn = (sql: SqlClient.SqlClient) => {
  const { isAnyOf } = dialectOf(sql);
  const findRecords = findRecordsOn(sql);
  const findEntries = userEntriesOn(sql);
  const findMemberships = findMembershipsOn(sql);
  const findSightings = findSightingsOn(sql);
  const findRoles = findUserRolesOn(sql);

  return Effect.fnUntraced(function* (chatId: ChatId) {
    const isTheirs = sql`pid ${isAnyOf(sql`SELECT pid FROM scopes`)} AND chat_id = ${chatId}`;
    const accounts = yield* Effect.flatMap(
      sql`SELECT ${accountColumns} FROM accounts WHERE chat_id = ${chatId} ORDER BY name`,
      readAccounts,
    );
    return {
      accounts,
      memberships: yield* findMemberships(chatId),
      records: yield* findRecords(chatId),
      ...(yield* findSightings(chatId)),
      reviews: yield* Effect.flatMap(
        sql`
          SELECT pid, ${asSeenFrom(sql, chatId)}, verdict, note, reviewed_at, key_id FROM alt_reviews
          WHERE pid ${isAnyOf(sql`SELECT pid FROM scopes`)} AND (chat_id = ${chatId} OR other_chat_id = ${chatId})
          ORDER BY pid, reviewed_at DESC, the_other`,
        readReviews,
      ),
      roles: yield* findRoles(chatId),
      sessions: yield* Effect.flatMap(
        sql`
          SELECT ${sessionColumns} FROM verification_sessions WHERE chat_id = ${chatId} ORDER BY created_at, sid`,
        readSessions,
      ),
      flows: yield* Effect.flatMap(
        sql`SELECT ${flowColumns} FROM verification_flows WHERE ${isTheirs} ORDER BY expires_at, id`,
        readFlows,
      ),
      signIns: yield* Effect.flatMap(
        sql`
          SELECT ${signInColumns} FROM site_sign_ins WHERE chat_id = ${chatId} ORDER BY created_at, id`,
        readSignIns,
      ),
      entries: yield* findEntries(
        chatId,
        accounts.map(({ name }) => name),
      ),
    };
  });
};
