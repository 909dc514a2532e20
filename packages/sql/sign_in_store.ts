import { ChatId } from "@accountlink/core";
import type { SignInId } from "@accountlink/core/ids";
import { UserGuild } from "@accountlink/core/platforms";
import { maxSignIns, type SignInSite, SignInStore, type SiteSignIn } from "@accountlink/core/sign_ins";
import { assertStorable } from "@accountlink/core/storable_text";
import { Array as Arr, Effect, Schema } from "effect";
import { deleteInBatches } from "./statements/in_batches.ts";
import { literalsOf, tableOf, textAs } from "./statements/row.ts";
import { storeLayer } from "./statements/store_operation.ts";

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

export const readSignIns = signIns.reader((signIn): SiteSignIn => signIn);

export const layer = storeLayer(SignInStore)(({ sql, operation, transaction, onlyOne, rowsWritten }) => ({
  begin: operation("begin", function* ({ stateHash, site, expiresAt }) {
    assertStorable([stateHash]);
    yield* sql`
      INSERT INTO begun_sign_ins (state_hash, site, expires_at) VALUES (${stateHash}, ${site}, ${expiresAt})`;
  }),

  takeBegun: operation("takeBegun", function* (site, stateHash, at) {
    const taken = yield* sql`
      DELETE FROM begun_sign_ins
      WHERE state_hash = ${stateHash} AND site = ${site} AND expires_at > ${at}`.raw;
    return rowsWritten(taken) > 0;
  }),

  create: transaction("create", function* (signIn, replaced) {
    assertStorable([signIn.id, signIn.account ?? ""]);
    const guilds = signIn.guilds === null ? null : JSON.stringify(signIn.guilds);
    const { chatId } = signIn;
    // Lock the user's sign-ins, because concurrent transactions do not see each other's rows.
    yield* sql`SELECT locks FROM ${onlyOne(`sign-ins of ${chatId}`)}`;
    if (replaced !== null) yield* sql`DELETE FROM site_sign_ins WHERE id = ${replaced}`;
    yield* sql`
      DELETE FROM site_sign_ins WHERE chat_id = ${chatId} AND id NOT IN (
        SELECT id FROM site_sign_ins WHERE chat_id = ${chatId}
        ORDER BY created_at DESC, id LIMIT ${maxSignIns - 1})`;
    yield* sql`INSERT INTO site_sign_ins ${sql.insert(signIns.rowOf({ ...signIn, guilds }))}`;
  }),

  find: operation("find", (site, id, at) => {
    const found = sql`
      SELECT ${signInColumns} FROM site_sign_ins
      WHERE id = ${id} AND site = ${site} AND expires_at > ${at}`;
    return Effect.map(readSignIns(found), Arr.head);
  }),

  list: operation("list", (site, chatId, at) =>
    readSignIns(sql`
      SELECT ${signInColumns} FROM site_sign_ins
      WHERE chat_id = ${chatId} AND site = ${site} AND expires_at > ${at}
      ORDER BY created_at DESC, id`),
  ),

  end: operation("end", function* (site, chatId, id) {
    const isIt = id === null ? sql`1 = 1` : sql`id = ${id}`;
    const ended = sql`DELETE FROM site_sign_ins WHERE chat_id = ${chatId} AND site = ${site} AND ${isIt}`;
    return rowsWritten(yield* ended.raw);
  }),

  sweep: operation("sweep", function* (at) {
    const condition = sql`expires_at <= ${at}`;
    for (const [table, key] of [
      ["begun_sign_ins", "state_hash"],
      ["site_sign_ins", "id"],
    ] as const) {
      yield* deleteInBatches(sql, { table, primaryKey: [key], order: "expires_at", condition });
    }
  }),
}));
