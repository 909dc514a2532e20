/**
 * Pending sign-ins without their secrets, which are derived from the `state` that the browser
 * returns. Replaces `sign_in_challenges`, which the next release drops.
 *
 * From here on, `sid` in `verification_sessions` and `verification_flows` is a keyed hash of the
 * sid, in the same format. Nodes of the previous release read and write such rows, but take the
 * hash for the sid: clients cannot read a session of one release at nodes of the other.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";

export const signIns = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const { text, integer, tableByKey } = dialectOf(sql);

  yield* sql`
    CREATE TABLE sign_ins (
      state_hash ${text} NOT NULL PRIMARY KEY,
      flow_id ${text} NOT NULL REFERENCES verification_flows (id) ON DELETE CASCADE ON UPDATE CASCADE,
      step ${text} NOT NULL,
      expires_at ${integer} NOT NULL
    ) ${tableByKey}`;
  yield* sql`CREATE INDEX sign_ins_by_flow ON sign_ins (flow_id)`;
});
