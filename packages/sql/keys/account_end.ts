/** The end of an account. Its entries move in steps, since an account may have very many. */
import type { KnownAccount } from "@accountlink/core/records";
import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import { accountPlace } from "../journal/records.ts";
import { dialectOf } from "../statements/dialect.ts";

/** Stores the account of a pseudonym, before entries move to it: a move of the storage refuses entries of no account. */
export const addPseudonym = (
  sql: SqlClient.SqlClient,
  { tier, status }: KnownAccount,
  pseudonym: string,
) => sql`
  INSERT INTO accounts (name, chat_id, tier, status) VALUES (${pseudonym}, NULL, ${tier}, ${status})
  ON CONFLICT (name) DO NOTHING`;

/** Gives an account its pseudonym, and takes its chat ID and its names. Returns the pseudonym. */
export const releaseAccount = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  account: KnownAccount,
  pseudonym: string,
) {
  const { forUpdate } = dialectOf(sql);
  const { name } = account;
  yield* addPseudonym(sql, account, pseudonym);
  yield* sql`SELECT pid FROM scopes WHERE account = ${name} ORDER BY pid ${forUpdate}`;
  yield* sql`UPDATE scopes SET account = ${pseudonym} WHERE account = ${name}`;
  yield* sql`UPDATE members SET account = ${pseudonym} WHERE account = ${name}`;
  yield* sql`UPDATE journal SET place = ${accountPlace(pseudonym)} WHERE place = ${accountPlace(name)}`;
  yield* sql`DELETE FROM accounts WHERE name = ${name}`;
  return pseudonym;
});

/** How many entries of an account a step moves or renames at most. */
export const entriesOfStep = 200;

/** Moves some entries about an account to its pseudonym. Returns whether more may be left. */
export const moveEntries = (sql: SqlClient.SqlClient, name: string, pseudonym: string) => {
  const [from, to] = [accountPlace(name), accountPlace(pseudonym)];
  const moved = sql`
    UPDATE journal SET place = ${to} WHERE place = ${from} AND sequence IN (
      SELECT sequence FROM journal WHERE place = ${from} ORDER BY sequence LIMIT ${entriesOfStep})`;
  return Effect.map(dialectOf(sql).rowsWritten(moved), (rows) => rows === entriesOfStep);
};

/** Gives the actor of some entries its pseudonym. Returns whether more may be left. */
export const renameActors = (sql: SqlClient.SqlClient, name: string, pseudonym: string) => {
  const isTheirs = sql`actor_type = 'account' AND actor_id = ${name}`;
  const renamed = sql`
    UPDATE journal SET actor_id = ${pseudonym} WHERE (place, sequence) IN (
      SELECT place, sequence FROM journal WHERE ${isTheirs} ORDER BY sequence LIMIT ${entriesOfStep}) AND ${isTheirs}`;
  return Effect.map(dialectOf(sql).rowsWritten(renamed), (rows) => rows === entriesOfStep);
};
