import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { readKeyIds } from "./accounts.ts";

/** Revokes the keys of an account, locked in the order of their IDs, and returns the IDs. */
export const revokeKeys = (sql: SqlClient.SqlClient, account: string, at: Millis) => {
  const { forUpdate, isAnyOf } = dialectOf(sql);
  const ofAccount = sql`pid ${isAnyOf(sql`SELECT pid FROM scopes WHERE account = ${account}`)}`;
  const active = sql`SELECT id FROM keys WHERE ${ofAccount} AND status <> 'revoked' ORDER BY id ${forUpdate}`;
  return readKeyIds(sql`
    UPDATE keys SET status = 'revoked', revoked_at = ${at} WHERE id ${isAnyOf(active)} RETURNING id`);
};

/** Pauses the webhooks and role plans of an account. */
export const pauseAll = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, account: string) {
  const ofAccount = sql`pid IN (SELECT pid FROM scopes WHERE account = ${account})`;
  yield* sql`
    UPDATE webhooks SET status = 'paused', failing_since = NULL WHERE ${ofAccount} AND status = 'active'`;
  yield* sql`
    UPDATE role_plans SET state = 'paused', revision = revision + 1, sweep_total = NULL
    WHERE ${ofAccount} AND state = 'on'`;
});

/** Revokes the keys of an account, and pauses its webhooks and role plans. Returns the revoked keys. */
export const closeAccount = (sql: SqlClient.SqlClient, account: string, at: Millis) =>
  Effect.andThen(pauseAll(sql, account), revokeKeys(sql, account, at));
