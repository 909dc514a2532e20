/**
 * Sign-ins under way without their secrets, which are made of the `state` that the browser brings back. They take the
 * place of `sign_in_challenges`, which goes in the release after.
 *
 * From this step on `sid` in `verification_sessions` and `verification_flows` holds a keyed hash of the sid, in the form
 * of one. A node of the release before reads and writes such rows, and ends them when a link is removed. But it takes
 * the hash for the sid: a session that one release has made is unknown to nodes of the other when a client asks for it.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../internal/dialect.ts";

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
