/** Assigns role plans to the nodes that work on them. */
import type { HoldPlans } from "@accountlink/core/roles";
import { Effect, Schema } from "effect";
import type { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { schemaReaderOf } from "../statements/row.ts";
import { planColumns, planTables, readHeldPlans, sweepColumns } from "./role_row.ts";

/** A node renews its row once this share of its lease has passed. */
const renewalShare = 0.3;

export const holdPlansOn = (sql: SqlClient.SqlClient) => {
  const take = takeOn(sql);
  const [columns, sweep, tables] = [
    sql.literal(planColumns),
    sql.literal(sweepColumns),
    sql.literal(planTables),
  ];

  /** Reads what the node has to write, without a transaction, since there is mostly nothing. */
  const readState = ({ node, at, limit }: HoldPlans) =>
    Effect.map(
      Effect.flatMap(
        sql`
          SELECT (SELECT lives_until FROM role_plan_nodes WHERE id = ${node}) AS lives_until,
            (SELECT COUNT(*) FROM (SELECT 1 FROM role_plans WHERE state = 'on' LIMIT 1) AS one) AS plans_exist,
            (SELECT COUNT(*) FROM (
              SELECT 1 FROM role_plans WHERE ${isFree(sql, at)} LIMIT ${Math.min(limit, 1)}
            ) AS other) AS free`,
        readStates,
      ),
      ([state]) => state ?? { lives_until: null, plans_exist: 0, free: 0 },
    );

  return Effect.fnUntraced(function* (hold: HoldPlans) {
    const { node, at, until } = hold;
    const { lives_until, plans_exist, free } = yield* readState(hold);
    if (until <= at) {
      yield* sql`DELETE FROM role_plan_nodes WHERE id = ${node}`;
      return [];
    }
    if (plans_exist === 0) return [];
    const isOld = lives_until === null || lives_until - at < (1 - renewalShare) * (until - at);
    if (isOld || free > 0) yield* take(hold);
    return yield* Effect.flatMap(
      sql`
        SELECT ${columns}, ${sweep}, role_plans.position, role_plans.revision,
          (SELECT MIN(due_at) FROM role_members
            WHERE pid = role_plans.pid AND guild_id = role_plans.guild_id AND due_at IS NOT NULL) AS next_due_at,
          (SELECT MIN(since) FROM role_members
            WHERE pid = role_plans.pid AND guild_id = role_plans.guild_id AND since IS NOT NULL) AS oldest_since
        FROM ${tables} JOIN accounts ON accounts.name = scopes.account
        WHERE role_plans.holder = ${node} AND role_plans.state = 'on' AND accounts.status = 'active'
        ORDER BY role_plans.pid, role_plans.guild_id`,
      readHeldPlans,
    );
  });
};

const isFree = (sql: SqlClient.SqlClient, at: number) => sql`(
  state = 'on'
  AND (holder IS NULL OR NOT EXISTS (SELECT 1 FROM role_plan_nodes WHERE id = holder AND lives_until > ${at})))`;

const takeOn = (sql: SqlClient.SqlClient) => {
  const { isAnyOf, forUpdateUnlocked } = dialectOf(sql);
  const takeFree = Effect.fnUntraced(function* ({ node, at, limit }: HoldPlans) {
    // At most one plan of a guild is on.
    const free = sql`
      SELECT guild_id FROM role_plans WHERE ${isFree(sql, at)} ORDER BY guild_id LIMIT ${limit} ${forUpdateUnlocked}`;
    yield* sql`UPDATE role_plans SET holder = ${node} WHERE state = 'on' AND guild_id ${isAnyOf(free)}`;
    yield* sql`DELETE FROM role_plan_nodes WHERE lives_until <= ${at}`;
  }, sql.withTransaction);

  return Effect.fnUntraced(function* (hold: HoldPlans) {
    const { node, until } = hold;
    // Commits before it takes any plan, so that other nodes that take plans now see this node as live.
    yield* sql`
      INSERT INTO role_plan_nodes (id, lives_until) VALUES (${node}, ${until})
      ON CONFLICT (id) DO UPDATE SET lives_until = excluded.lives_until`;
    yield* takeFree(hold);
  });
};

const readStates = schemaReaderOf(
  "role_plan_nodes",
  Schema.Struct({ lives_until: Schema.NullOr(Schema.Int), plans_exist: Schema.Int, free: Schema.Int }),
  (state) => state,
);
