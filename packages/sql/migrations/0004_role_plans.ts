/** Adds role plans, the nodes that work on them, and the stored state of their members. */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";

export const rolePlans = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const { text, integer, tableByKey } = dialectOf(sql);
  // The nodes have processed the events of the scope up to `position`: every member that such an event affects was
  // added to role_members. sweep_total is null while no sweep runs.
  yield* sql`
    CREATE TABLE role_plans (
      pid ${text} NOT NULL REFERENCES scopes (pid),
      guild_id ${text} NOT NULL,
      rules ${text} NOT NULL,
      nickname ${text},
      state ${text} NOT NULL,
      position ${integer} NOT NULL,
      revision ${integer} NOT NULL,
      swept_at ${integer},
      sweep_started_at ${integer},
      sweep_after ${text},
      sweep_done ${integer} NOT NULL,
      sweep_total ${integer},
      holder ${text},
      PRIMARY KEY (pid, guild_id)
    ) ${tableByKey}`;
  yield* sql`CREATE UNIQUE INDEX role_plans_on ON role_plans (guild_id) WHERE state = 'on'`;

  yield* sql`
    CREATE TABLE role_plan_nodes (
      id ${text} NOT NULL PRIMARY KEY,
      lives_until ${integer} NOT NULL
    ) ${tableByKey}`;

  // `since` and `due_at` are set while a member waits for a change. `nickname` is the nickname that the plan set.
  yield* sql`
    CREATE TABLE role_members (
      pid ${text} NOT NULL,
      guild_id ${text} NOT NULL,
      chat_id ${text} NOT NULL,
      mark ${integer} NOT NULL,
      since ${integer},
      due_at ${integer},
      nickname ${text},
      PRIMARY KEY (pid, guild_id, chat_id)
    ) ${tableByKey}`;
  for (const time of ["since", "due_at"]) {
    yield* sql`
      CREATE INDEX ${sql(`role_members_by_${time}`)} ON role_members (pid, guild_id, ${sql(time)})
      WHERE ${sql(time)} IS NOT NULL`;
  }
  yield* sql`CREATE INDEX role_members_by_user ON role_members (chat_id)`;

  // role_id is empty if the problem concerns the nickname.
  yield* sql`
    CREATE TABLE role_problems (
      pid ${text} NOT NULL,
      guild_id ${text} NOT NULL,
      chat_id ${text} NOT NULL,
      role_id ${text} NOT NULL,
      reason ${text} NOT NULL,
      at ${integer} NOT NULL,
      PRIMARY KEY (pid, guild_id, chat_id, role_id)
    ) ${tableByKey}`;
  yield* sql`CREATE INDEX role_problems_by_time ON role_problems (pid, guild_id, at)`;
  yield* sql`CREATE INDEX role_problems_by_user ON role_problems (chat_id)`;
});
