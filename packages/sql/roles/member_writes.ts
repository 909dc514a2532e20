/** The writes of `RolePlanStore` on members of a plan. */
import type {
  MarkMembers,
  PlanPlace,
  RolePlanStore,
  SettledMember,
  SettleMembers,
} from "@accountlink/core/roles";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Schema } from "effect";
import type { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { schemaReaderOf } from "../statements/row.ts";
import { storeOperation } from "../statements/store_operation.ts";
import { isPlan, sweepStart } from "./plan_writes.ts";

type Writes = Pick<RolePlanStore["Service"], "mark" | "markMember" | "settle" | "settleOne">;

export const memberWrites = (sql: SqlClient.SqlClient): Writes => {
  const [mark, settle, settleOne] = [markOn(sql), settleOn(sql), settleOneOn(sql)];
  return {
    mark: (write) => mark(write).pipe(storeOperation("RolePlanStore.mark")),
    markMember: (guildId, chatId, at) =>
      sql`
        INSERT INTO role_members (pid, guild_id, chat_id, mark, since, due_at)
        SELECT pid, guild_id, ${chatId}, 1, CAST(${at} AS BIGINT), CAST(${at} AS BIGINT)
        FROM role_plans WHERE guild_id = ${guildId} AND state = 'on'
        ${markAgain(sql)}`.pipe(storeOperation("RolePlanStore.markMember"), Effect.asVoid),
    settle: (write) =>
      settle(write).pipe(storeOperation("RolePlanStore.settle", ...write.members.map(textOf))),
    settleOne: (place, member, at) =>
      settleOne(place, member, at).pipe(storeOperation("RolePlanStore.settleOne", textOf(member))),
  };
};

const textOf = ({ nickname }: SettledMember): string => nickname ?? "";

const markAgain = (sql: SqlClient.SqlClient) => sql`
  ON CONFLICT (pid, guild_id, chat_id) DO UPDATE SET
    mark = role_members.mark + 1, since = COALESCE(role_members.since, excluded.since), due_at = excluded.due_at`;

const markOn = (sql: SqlClient.SqlClient) => {
  const { elements, rowsWritten } = dialectOf(sql);
  return Effect.fnUntraced(function* (write: MarkMembers) {
    const { pid, guildId, node, at, position, chatIds, sweepOf } = write;
    const sweep = sweepOf === null ? sql`` : sql`, ${sweepStart(sql, sweepOf, at)}`;
    const held = yield* sql`
      UPDATE role_plans SET position = ${position} ${sweep} WHERE ${isPlan(sql, write)} AND holder = ${node}`
      .raw;
    if (rowsWritten(held) === 0) return false;
    if (chatIds.length === 0) return true;
    const rows = JSON.stringify(Array.from(new Set(chatIds), (chatId) => [chatId]));
    yield* sql`
      INSERT INTO role_members (pid, guild_id, chat_id, mark, since, due_at)
      SELECT ${pid}, ${guildId}, value ->> 0, 1, CAST(${at} AS BIGINT), CAST(${at} AS BIGINT)
      FROM ${elements(rows)} WHERE true
      ${markAgain(sql)}`;
    return true;
  }, sql.withTransaction);
};

const settleOn = (sql: SqlClient.SqlClient) => {
  const lockPlan = lockPlanOn(sql);
  const settleMembers = settleMembersOn(sql);
  return Effect.fnUntraced(function* (write: SettleMembers) {
    const { node, at, members, revision, sweep } = write;
    const plan = yield* lockPlan(write);
    if (plan === undefined || plan.holder !== node) return false;
    yield* settleMembers(write, members, at);
    if (sweep === null || plan.sweep_total === null || plan.revision !== revision) return true;
    if (sweep === "ended") {
      yield* sql`UPDATE role_plans SET swept_at = ${at}, sweep_total = NULL WHERE ${isPlan(sql, write)}`;
      yield* sql`DELETE FROM role_problems WHERE ${isPlan(sql, write)} AND at < ${plan.sweep_started_at}`;
    } else {
      yield* sql`
        UPDATE role_plans SET sweep_after = ${sweep.after}, sweep_done = ${sweep.done}, sweep_total = ${sweep.total}
        WHERE ${isPlan(sql, write)}`;
    }
    return true;
  }, sql.withTransaction);
};

const settleOneOn = (sql: SqlClient.SqlClient) => {
  const lockPlan = lockPlanOn(sql);
  const settleMembers = settleMembersOn(sql);
  return Effect.fnUntraced(function* (place: PlanPlace, member: SettledMember, at: Millis) {
    if ((yield* lockPlan(place)) !== undefined) yield* settleMembers(place, [member], at);
  }, sql.withTransaction);
};

const lockPlanOn = (sql: SqlClient.SqlClient) => {
  const { forUpdate } = dialectOf(sql);
  return (place: PlanPlace) =>
    Effect.map(
      Effect.flatMap(
        sql`
          SELECT holder, revision, sweep_total, sweep_started_at FROM role_plans
          WHERE ${isPlan(sql, place)} ${forUpdate}`,
        readLocked,
      ),
      ([plan]) => plan,
    );
};

const OptionalInt = Schema.NullOr(Schema.Int);
const readLocked = schemaReaderOf(
  "role_plans",
  Schema.Struct({
    holder: Schema.NullOr(Schema.String),
    revision: Schema.Int,
    sweep_total: OptionalInt,
    sweep_started_at: OptionalInt,
  }),
  (plan) => plan,
);

const settleMembersOn = (sql: SqlClient.SqlClient) => {
  const { elements, isAmong } = dialectOf(sql);
  return Effect.fnUntraced(function* (place: PlanPlace, members: ReadonlyArray<SettledMember>, at: Millis) {
    if (members.length === 0) return;
    const { pid, guildId } = place;
    const isSettled = sql`${isPlan(sql, place)} AND chat_id ${isAmong(JSON.stringify(members.map(({ chatId }) => chatId)))}`;
    const rows = JSON.stringify(
      members.map(({ chatId, mark, retryAt, nickname }) => [
        chatId,
        (mark ?? 0) + 1,
        retryAt === null ? null : at,
        retryAt,
        nickname,
      ]),
    );
    // A member's `mark` increases with every event that affects the member. `excluded.mark` is 1 more than the mark
    // that the node read. If it is also 1 more than the stored mark, no event affected the member since the read.
    const isApplied = sql`(role_members.due_at IS NULL OR excluded.mark = role_members.mark + 1)`;
    yield* sql`
      INSERT INTO role_members (pid, guild_id, chat_id, mark, since, due_at, nickname)
      SELECT ${pid}, ${guildId}, value ->> 0, CAST(value ->> 1 AS BIGINT), CAST(value ->> 2 AS BIGINT),
        CAST(value ->> 3 AS BIGINT), value ->> 4
      FROM ${elements(rows)} WHERE true
      ON CONFLICT (pid, guild_id, chat_id) DO UPDATE SET
        nickname = excluded.nickname,
        due_at = CASE WHEN ${isApplied} THEN excluded.due_at ELSE role_members.due_at END,
        since = CASE
          WHEN NOT ${isApplied} THEN role_members.since
          WHEN excluded.due_at IS NULL THEN NULL
          ELSE COALESCE(role_members.since, excluded.since)
        END`;
    yield* sql`DELETE FROM role_members WHERE ${isSettled} AND due_at IS NULL AND nickname IS NULL`;
    yield* sql`DELETE FROM role_problems WHERE ${isSettled}`;
    const problems = members.flatMap((member) =>
      member.problems.map(({ roleId, reason, at: since }) => [member.chatId, roleId ?? "", reason, since]),
    );
    if (problems.length === 0) return;
    yield* sql`
      INSERT INTO role_problems (pid, guild_id, chat_id, role_id, reason, at)
      SELECT ${pid}, ${guildId}, value ->> 0, value ->> 1, value ->> 2, CAST(value ->> 3 AS BIGINT)
      FROM ${elements(JSON.stringify(problems))}`;
  });
};
