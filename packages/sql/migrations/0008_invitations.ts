/**
 * Adds the inviter to members, the device to sign-ins, and the table of owners whose suspension outlives their erasure.
 *
 * Earlier releases let members add users without consent. A member who has used the account counts as having accepted;
 * for everyone else the invitation begins now.
 */
import { Clock, Effect } from "effect";
import { SqlClient } from "effect/sql";
import { changeSchema } from "./change_schema.ts";

export const invitations = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  yield* changeSchema(`
    ALTER TABLE members ADD COLUMN invited_by TEXT;
    CREATE INDEX members_by_inviter ON members (invited_by);
    ALTER TABLE site_sign_ins ADD COLUMN device TEXT;
    CREATE TABLE suspended_owners (hash TEXT NOT NULL PRIMARY KEY)`);
  yield* sql`
    UPDATE members SET chosen_at = since
    WHERE chosen_at IS NULL AND (
      EXISTS (
        SELECT 1 FROM site_sign_ins
        WHERE site_sign_ins.chat_id = members.chat_id AND site_sign_ins.account = members.account)
      OR EXISTS (
        SELECT 1 FROM audit_log
        WHERE audit_log.member = members.chat_id AND audit_log.account = members.account))`;
  yield* sql`UPDATE members SET since = ${yield* Clock.currentTimeMillis} WHERE chosen_at IS NULL`;
});
