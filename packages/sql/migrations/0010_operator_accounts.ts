/**
 * Marks the accounts of the operator. Earlier releases took every account without an owner or admin for one. An account
 * that an erasure left, or that once had an owner or admin, is none.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { changeSchema } from "./change_schema.ts";

export const operatorAccounts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  yield* changeSchema(`ALTER TABLE accounts ADD COLUMN operator INTEGER NOT NULL DEFAULT 0`);
  yield* sql`
    UPDATE accounts SET operator = 1
    WHERE chat_id IS NULL AND name NOT LIKE 'erased:%'
      AND NOT EXISTS (SELECT 1 FROM members WHERE account = name AND role <> 'moderator')
      AND NOT EXISTS (
        SELECT 1 FROM audit_log
        WHERE audit_log.account = accounts.name AND action IN ('member.added', 'member.role_changed')
          AND (details LIKE '%"role":"owner"%' OR details LIKE '%"role":"admin"%'))`;
});
