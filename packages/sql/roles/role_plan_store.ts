import type { ChatId } from "@accountlink/core";
import {
  erasedNickname,
  type HoldItems,
  placeOrder,
  RolePlanStore,
  shownProblems,
  type UserRoles,
} from "@accountlink/core/roles";
import { Array as Arr, Effect, Layer } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { leasesOn } from "../statements/leases.ts";
import { storeOperation } from "../statements/store_operation.ts";
import { memberWrites } from "./member_writes.ts";
import { isPlan, planWrites } from "./plan_writes.ts";
import {
  planColumns,
  planTables,
  problemColumns,
  readHeldPlans,
  readNicknames,
  readNodes,
  readPlacedNicknames,
  readPlacedProblems,
  readPlans,
  readProblems,
  readStatuses,
  readWaiting,
  sweepColumns,
} from "./role_row.ts";

export const layer: Layer.Layer<RolePlanStore, never, SqlClient.SqlClient> = Layer.effect(
  RolePlanStore,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const { isAmong } = dialectOf(sql);
    const hold = holdPlansOn(sql);
    const status = statusOn(sql);
    return RolePlanStore.of({
      ...planWrites(sql),
      ...memberWrites(sql),

      find: ({ pid, guildId }) =>
        sql`
          SELECT ${planColumns} FROM ${planTables}
          WHERE role_plans.pid = ${pid} AND role_plans.guild_id = ${guildId}`.pipe(
          Effect.flatMap(readPlans),
          Effect.map(Arr.head),
          storeOperation("RolePlanStore.find"),
        ),

      findOn: (guildId) =>
        sql`
          SELECT ${planColumns} FROM ${planTables} JOIN accounts ON accounts.name = scopes.account
          WHERE role_plans.guild_id = ${guildId} AND role_plans.state = 'on' AND accounts.status = 'active'`.pipe(
          Effect.flatMap(readPlans),
          Effect.map(Arr.head),
          storeOperation("RolePlanStore.findOn"),
        ),

      list: (pid) =>
        sql`SELECT ${planColumns} FROM ${planTables} WHERE role_plans.pid = ${pid} ORDER BY role_plans.guild_id`.pipe(
          Effect.flatMap(readPlans),
          storeOperation("RolePlanStore.list"),
        ),

      status: (place) => status(place).pipe(storeOperation("RolePlanStore.status")),

      hold: (write) => hold(write).pipe(storeOperation("RolePlanStore.hold", write.node)),

      firstNode: (prefix, at) =>
        sql`
          SELECT id FROM role_plan_nodes
          WHERE lives_until > ${at} AND substr(id, 1, ${prefix.length}) = ${prefix} ORDER BY id LIMIT 1`.pipe(
          Effect.flatMap(readNodes),
          Effect.map(Arr.head),
          storeOperation("RolePlanStore.firstNode"),
        ),

      due: (place, at, limit) =>
        sql`
          SELECT chat_id, mark, since, nickname FROM role_members
          WHERE ${isPlan(sql, place)} AND due_at IS NOT NULL AND due_at <= ${at}
          ORDER BY due_at, chat_id LIMIT ${limit}`.pipe(
          Effect.flatMap(readWaiting),
          storeOperation("RolePlanStore.due"),
        ),

      nicknames: (place, chatIds) =>
        sql`
          SELECT chat_id, nickname FROM role_members
          WHERE ${isPlan(sql, place)} AND chat_id ${isAmong(JSON.stringify(chatIds))} AND nickname IS NOT NULL`.pipe(
          Effect.flatMap(readNicknames),
          Effect.map((found) => new Map(found)),
          storeOperation("RolePlanStore.nicknames"),
        ),
    });
  }),
);

const statusOn = (sql: SqlClient.SqlClient) =>
  Effect.fnUntraced(function* (place: Parameters<typeof isPlan>[1]) {
    const [found] = yield* Effect.flatMap(
      sql`
        SELECT ${sweepColumns},
          (SELECT COUNT(*) FROM role_members WHERE ${isPlan(sql, place)} AND due_at IS NOT NULL) AS pending
        FROM role_plans WHERE ${isPlan(sql, place)}`,
      readStatuses,
    );
    const problems = yield* Effect.flatMap(
      sql`
        SELECT ${problemColumns} FROM role_problems WHERE ${isPlan(sql, place)}
        ORDER BY at DESC, chat_id, role_id LIMIT ${shownProblems}`,
      readProblems,
    );
    return { ...(found ?? { pending: 0, sweptAt: null, sweep: null }), problems };
  });

/** Assigns role plans to a node, and returns the plans that the node holds. */
const holdPlansOn = (sql: SqlClient.SqlClient) => {
  // `guild_id` can be the key, because a guild has at most one plan with the state 'on'.
  const lease = leasesOn(sql, {
    table: "role_plans",
    key: "guild_id",
    nodes: "role_plan_nodes",
    isNeeded: sql`state = 'on'`,
  });

  return Effect.fnUntraced(function* (hold: HoldItems) {
    if (!(yield* lease(hold))) return [];
    return yield* Effect.flatMap(
      sql`
        SELECT ${planColumns}, ${sweepColumns}, role_plans.position, role_plans.revision,
          (SELECT MIN(due_at) FROM role_members
            WHERE pid = role_plans.pid AND guild_id = role_plans.guild_id AND due_at IS NOT NULL) AS next_due_at,
          (SELECT MIN(since) FROM role_members
            WHERE pid = role_plans.pid AND guild_id = role_plans.guild_id AND since IS NOT NULL) AS oldest_since
        FROM ${planTables} JOIN accounts ON accounts.name = scopes.account
        WHERE role_plans.holder = ${hold.node} AND role_plans.state = 'on' AND accounts.status = 'active'
        ORDER BY role_plans.pid, role_plans.guild_id`,
      readHeldPlans,
    );
  });
};

/** Returns a function that finds the nicknames and problems stored for a chat user. */
export const findUserRolesOn = (sql: SqlClient.SqlClient) =>
  Effect.fnUntraced(function* (chatId: ChatId) {
    const nicknames = yield* Effect.flatMap(
      sql`SELECT pid, guild_id, nickname FROM role_members WHERE chat_id = ${chatId} AND nickname <> ${erasedNickname}`,
      readPlacedNicknames,
    );
    const problems = yield* Effect.flatMap(
      sql`
        SELECT pid, guild_id, ${problemColumns} FROM role_problems WHERE chat_id = ${chatId}
        ORDER BY role_id`,
      readPlacedProblems,
    );
    const found = new Map<string, UserRoles>();
    for (const { pid, guildId, nickname } of nicknames) {
      found.set(`${pid} ${guildId}`, { pid, guildId, nickname, problems: [] });
    }
    for (const { pid, guildId, problem } of problems) {
      const name = `${pid} ${guildId}`;
      const roles = found.get(name) ?? { pid, guildId, nickname: null, problems: [] };
      found.set(name, { ...roles, problems: [...roles.problems, problem] });
    }
    return [...found.values()].toSorted(placeOrder);
  });

/**
 * Returns a function that forgets the stored nicknames and problems of a chat user. Role changes that are still due for
 * the user stay due, and so does the removal of a nickname that a plan set.
 */
export const forgetUserRolesOn = (sql: SqlClient.SqlClient) =>
  Effect.fnUntraced(function* (chatId: ChatId) {
    const isOn = sql`EXISTS (
      SELECT 1 FROM role_plans
      WHERE role_plans.pid = role_members.pid AND role_plans.guild_id = role_members.guild_id AND state = 'on'
    )`;
    yield* sql`
      DELETE FROM role_members WHERE chat_id = ${chatId} AND due_at IS NULL AND (nickname IS NULL OR NOT ${isOn})`;
    yield* sql`UPDATE role_members SET nickname = ${erasedNickname} WHERE chat_id = ${chatId} AND nickname IS NOT NULL`;
    yield* sql`DELETE FROM role_problems WHERE chat_id = ${chatId}`;
  });
