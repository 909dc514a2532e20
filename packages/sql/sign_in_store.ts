import type { SignInId } from "@accountlink/core/ids";
import { SignInStore, type SiteSignIn } from "@accountlink/core/sign_ins";
import type { Millis } from "@accountlink/core/timestamp";
import { Array as Arr, Effect, Layer } from "effect";
import { SqlClient } from "effect/sql";
import { readSignIns, rowOfSignIn, signInColumns } from "./sign_in_row.ts";
import { dialectOf } from "./statements/dialect.ts";
import { batchSize, inBatches } from "./statements/in_batches.ts";
import { storeOperation } from "./statements/store_operation.ts";

export const layer: Layer.Layer<SignInStore, never, SqlClient.SqlClient> = Layer.effect(
  SignInStore,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const columns = sql.literal(signInColumns);
    const { rowsWritten } = dialectOf(sql);
    const [create, sweep] = [createOn(sql), sweepOn(sql)];
    return SignInStore.of({
      begin: ({ stateHash, site, expiresAt }) =>
        sql`
          INSERT INTO begun_sign_ins (state_hash, site, expires_at)
          VALUES (${stateHash}, ${site}, ${expiresAt})`.pipe(
          Effect.asVoid,
          storeOperation("SignInStore.begin", stateHash),
        ),

      takeBegun: (site, stateHash, at) =>
        sql`
          DELETE FROM begun_sign_ins
          WHERE state_hash = ${stateHash} AND site = ${site} AND expires_at > ${at}`.raw.pipe(
          Effect.map((result) => rowsWritten(result) > 0),
          storeOperation("SignInStore.takeBegun"),
        ),

      create: (signIn, replaced) =>
        create(signIn, replaced).pipe(storeOperation("SignInStore.create", signIn.id, signIn.account ?? "")),

      find: (site, id, at) =>
        sql`
          SELECT ${columns} FROM site_sign_ins
          WHERE id = ${id} AND site = ${site} AND expires_at > ${at}`.pipe(
          Effect.flatMap(readSignIns),
          Effect.map(Arr.head),
          storeOperation("SignInStore.find"),
        ),

      list: (site, chatId, at) =>
        sql`
          SELECT ${columns} FROM site_sign_ins
          WHERE chat_id = ${chatId} AND site = ${site} AND expires_at > ${at}
          ORDER BY created_at DESC, id`.pipe(Effect.flatMap(readSignIns), storeOperation("SignInStore.list")),

      end: (site, chatId, id) =>
        sql`
          DELETE FROM site_sign_ins WHERE chat_id = ${chatId} AND site = ${site}
          ${id === null ? sql.literal("") : sql`AND id = ${id}`}`.raw.pipe(
          Effect.map(rowsWritten),
          storeOperation("SignInStore.end"),
        ),

      sweep: (at) => sweep(at).pipe(storeOperation("SignInStore.sweep")),
    });
  }),
);

const createOn = (sql: SqlClient.SqlClient) =>
  Effect.fnUntraced(function* (signIn: SiteSignIn, replaced: SignInId | null) {
    if (replaced !== null) yield* sql`DELETE FROM site_sign_ins WHERE id = ${replaced}`;
    yield* sql`INSERT INTO site_sign_ins ${sql.insert(rowOfSignIn(signIn))}`;
  }, sql.withTransaction);

const sweepOn = (sql: SqlClient.SqlClient) => {
  const { firstRows, rowsWritten } = dialectOf(sql);

  const forget = (table: string, key: string, at: Millis) => {
    const condition = sql`expires_at <= ${at}`;
    const batch = firstRows({ table, primaryKey: [key], order: "expires_at", condition, limit: batchSize });
    return inBatches(Effect.map(sql`DELETE FROM ${sql(table)} ${batch}`.raw, rowsWritten));
  };

  return Effect.fnUntraced(function* (at: Millis) {
    yield* forget("begun_sign_ins", "state_hash", at);
    yield* forget("site_sign_ins", "id", at);
  });
};
