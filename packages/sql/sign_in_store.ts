import { ChatId } from "@accountlink/core";
import type { SignInId } from "@accountlink/core/ids";
import { UserGuild } from "@accountlink/core/platforms";
import { type SignInSite, SignInStore, type SiteSignIn } from "@accountlink/core/sign_ins";
import type { Millis } from "@accountlink/core/timestamp";
import { Array as Arr, Effect, Layer, Schema } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "./statements/dialect.ts";
import { deleteInBatches } from "./statements/in_batches.ts";
import { literalsOf, tableOf, textAs } from "./statements/row.ts";
import { storeOperation } from "./statements/store_operation.ts";

const signIns = tableOf("site_sign_ins", {
  id: textAs<SignInId>(),
  site: literalsOf<SignInSite>({ dashboard: true, me: true }),
  chatId: ChatId,
  account: Schema.NullOr(Schema.String),
  guilds: Schema.NullOr(Schema.fromJsonString(Schema.Array(UserGuild))),
  device: Schema.NullOr(Schema.String),
  createdAt: Schema.Int,
  expiresAt: Schema.Int,
});

export const signInColumns = signIns.columns;

const rowOfSignIn = ({ guilds, ...signIn }: SiteSignIn) =>
  signIns.rowOf({ ...signIn, guilds: guilds === null ? null : JSON.stringify(guilds) });

export const readSignIns = signIns.reader((signIn): SiteSignIn => signIn);

export const layer: Layer.Layer<SignInStore, never, SqlClient.SqlClient> = Layer.effect(
  SignInStore,
  Effect.map(SqlClient.SqlClient, (sql) => {
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
          SELECT ${signInColumns} FROM site_sign_ins
          WHERE id = ${id} AND site = ${site} AND expires_at > ${at}`.pipe(
          Effect.flatMap(readSignIns),
          Effect.map(Arr.head),
          storeOperation("SignInStore.find"),
        ),

      list: (site, chatId, at) =>
        sql`
          SELECT ${signInColumns} FROM site_sign_ins
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
  const forget = (table: string, key: string, at: Millis) => {
    const condition = sql`expires_at <= ${at}`;
    return deleteInBatches(sql, { table, primaryKey: [key], order: "expires_at", condition });
  };

  return Effect.fnUntraced(function* (at: Millis) {
    yield* forget("begun_sign_ins", "state_hash", at);
    yield* forget("site_sign_ins", "id", at);
  });
};
