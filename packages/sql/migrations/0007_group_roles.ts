/** Adds to role plans the group of the nickname and the role whose members are left alone. */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";

export const groupRoles = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const { text } = dialectOf(sql);
  yield* sql`ALTER TABLE role_plans ADD COLUMN nickname_group_id ${text}`;
  yield* sql`ALTER TABLE role_plans ADD COLUMN bypass_role_id ${text}`;
});
