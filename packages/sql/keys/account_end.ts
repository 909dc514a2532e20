import { uploadOf } from "@accountlink/core/imports";
import { type Account, noSettings } from "@accountlink/core/keys";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import { accountPlace } from "../journal/records.ts";
import { dialectOf } from "../statements/dialect.ts";
import { rowOfSettings } from "./accounts.ts";
import { revokeKeys } from "./known_accounts.ts";

/**
 * Removes the chat ID and the names of an account, which is `pseudonym` from then on. Revokes its keys, ends its
 * invitations and its members' sign-ins, and clears the texts that the owner entered for keys, scopes and webhooks.
 * Returns the revoked keys.
 */
export const releaseAccount = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { name, tier, status }: Account,
  pseudonym: string,
  at: Millis,
) {
  const { isAnyOf } = dialectOf(sql);
  yield* sql`INSERT INTO accounts (name, chat_id, tier, status) VALUES (${pseudonym}, NULL, ${tier}, ${status})`;
  const released = sql.update({ account: pseudonym, ...rowOfSettings(noSettings) });
  yield* sql`UPDATE scopes SET ${released} WHERE account = ${name}`;
  yield* sql`
    DELETE FROM site_sign_ins
    WHERE chat_id ${isAnyOf(sql`SELECT chat_id FROM members WHERE account = ${name}`)} AND account = ${name}`;
  yield* sql`DELETE FROM members WHERE account = ${name} AND chosen_at IS NULL`;
  yield* sql`UPDATE members SET account = ${pseudonym} WHERE account = ${name}`;
  yield* sql`UPDATE journal SET place = ${accountPlace(pseudonym)} WHERE place = ${accountPlace(name)}`;
  const revoked = yield* revokeKeys(sql, pseudonym, at);
  const inScopes = sql`pid IN (SELECT pid FROM scopes WHERE account = ${pseudonym})`;
  yield* sql`
    UPDATE keys SET name = '', allow_ips = '[]', deny_ips = '[]', redirect_origins = '[]', made_by = NULL
    WHERE ${inScopes}`;
  yield* sql`UPDATE webhooks SET description = '' WHERE ${inScopes}`;
  yield* sql`DELETE FROM imports WHERE account IN (${name}, ${uploadOf(name)})`;
  yield* sql`DELETE FROM accounts WHERE name = ${name}`;
  return revoked;
});

/** How many entries of an account a step moves or renames at most. */
export const entriesOfStep = 200;

/** Moves some entries about an account to its pseudonym. Returns whether more may be left. */
export const moveEntries = (sql: SqlClient.SqlClient, name: string, pseudonym: string) => {
  const [from, to] = [accountPlace(name), accountPlace(pseudonym)];
  const moved = sql`
    UPDATE journal SET place = ${to} WHERE place = ${from} AND sequence IN (
      SELECT sequence FROM journal WHERE place = ${from} ORDER BY sequence LIMIT ${entriesOfStep})`;
  return Effect.map(moved.raw, (raw) => dialectOf(sql).rowsWritten(raw) === entriesOfStep);
};

/** Gives the actor of some entries its pseudonym. Returns whether more may be left. */
export const renameActors = (sql: SqlClient.SqlClient, name: string, pseudonym: string) => {
  const isTheirs = sql`actor_type = 'account' AND actor_id = ${name}`;
  const renamed = sql`
    UPDATE journal SET actor_id = ${pseudonym} WHERE (place, sequence) IN (
      SELECT place, sequence FROM journal WHERE ${isTheirs} ORDER BY sequence LIMIT ${entriesOfStep}) AND ${isTheirs}`;
  return Effect.map(renamed.raw, (raw) => dialectOf(sql).rowsWritten(raw) === entriesOfStep);
};
