/** The members of role plans: their due changes, nicknames and problems. */
import { ChatId, GuildId, Pid } from "@accountlink/core";
import { placeOrder } from "@accountlink/core/communities";
import {
  erasedLink,
  erasedNickname,
  namedMembers,
  noteProblems,
  type PlanPlace,
  type PlanProblem,
  type RolePlanStore,
  type SettledMember,
  type SharedProblem,
  shownProblems,
  type UserRoles,
  type WaitingMember,
} from "@accountlink/core/roles";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { Array as Arr, Effect, Schema } from "effect";
import type { SqlClient } from "effect/sql";
import { withTx } from "../records.ts";
import {
  literalsOf,
  OptionalInt,
  OptionalText,
  schemaReaderOf,
  tableOf,
  type ValuesOf,
} from "../statements/row.ts";
import type { StoreParts } from "../statements/store_operation.ts";
import { ChangedDays, countChanges } from "./changed_days.ts";
import { isPlan } from "./is_plan.ts";

/** Returns SQL assignments that start a sweep of the plan from the beginning, even if another sweep is running. */
export const sweepStart = (sql: SqlClient.SqlClient, total: number, at: Millis) => sql`
  revision = revision + 1, sweep_started_at = ${at}, sweep_after = NULL, sweep_done = 0, sweep_total = ${total}`;

export const memberOperations = ({
  sql,
  operation,
  transaction,
  elements,
  forUpdate,
  isAmong,
  wrote,
}: StoreParts) => {
  const markAgain = sql`
    ON CONFLICT (pid, guild_id, chat_id) DO UPDATE SET
      mark = role_members.mark + 1, since = COALESCE(role_members.since, excluded.since), due_at = excluded.due_at`;

  const lockPlan = (place: PlanPlace) =>
    readLocked(sql`
      SELECT holder, revision, sweep_total, sweep_started_at, changed_days FROM role_plans
      WHERE ${isPlan(sql, place)} ${forUpdate}`);

  /** Returns whether the problems may have changed. */
  const settleMembers = Effect.fnUntraced(function* (
    place: PlanPlace,
    members: ReadonlyArray<SettledMember>,
    at: Millis,
  ) {
    assertStorable(members.map(({ nickname }) => nickname ?? ""));
    if (members.length === 0) return false;
    const { pid, guildId } = place;
    const isSettled = sql`${isPlan(sql, place)} AND chat_id ${isAmong(JSON.stringify(members.map(({ chatId }) => chatId)))}`;
    const rows = members.map(({ chatId, mark, retryAt, nickname }) => {
      const since = retryAt === null ? null : at;
      return [chatId, (mark ?? 0) + 1, since, retryAt, nickname];
    });
    // A member's `mark` increases with every event that affects the member. `excluded.mark` is 1 more than the mark
    // that the node read. If it is also 1 more than the stored mark, no event affected the member since the read.
    const isApplied = sql`(role_members.due_at IS NULL OR excluded.mark = role_members.mark + 1)`;
    yield* sql`
      INSERT INTO role_members (pid, guild_id, chat_id, mark, since, due_at, nickname)
      SELECT ${pid}, ${guildId}, value ->> 0, CAST(value ->> 1 AS BIGINT), CAST(value ->> 2 AS BIGINT),
        CAST(value ->> 3 AS BIGINT), value ->> 4
      FROM ${elements(JSON.stringify(rows))} WHERE true
      ON CONFLICT (pid, guild_id, chat_id) DO UPDATE SET
        nickname = excluded.nickname,
        due_at = CASE WHEN ${isApplied} THEN excluded.due_at ELSE role_members.due_at END,
        since = CASE
          WHEN NOT ${isApplied} THEN role_members.since
          WHEN excluded.due_at IS NULL THEN NULL
          ELSE COALESCE(role_members.since, excluded.since)
        END`;
    yield* sql`
      DELETE FROM role_members
      WHERE ${isSettled} AND due_at IS NULL AND nickname IS NULL AND replaced_at IS NULL`;
    const wereKnown = yield* wrote(sql`DELETE FROM role_problems WHERE ${isSettled}`);
    const found = members.flatMap(({ problems: ofMember }) => ofMember);
    yield* addProblems(place, found);
    return wereKnown || found.length > 0;
  });

  const note = (place: PlanPlace, at: Millis) => withTx(sql, (tx) => noteProblems(tx, place, at), true);

  const addProblems = Effect.fnUntraced(function* (
    { pid, guildId }: PlanPlace,
    added: ReadonlyArray<PlanProblem>,
  ) {
    if (added.length === 0) return;
    const rows = added.map(
      ({ chatId, roleId, reason, at }) => [chatId ?? "", roleId ?? "", reason, at] as const,
    );
    // An insert changes a row once, but several members may find the same problem of the plan.
    const unique = [...new Map(rows.map((row) => [`${row[0]} ${row[1]}`, row])).values()];
    yield* sql`
      INSERT INTO role_problems (pid, guild_id, chat_id, role_id, reason, at)
      SELECT ${pid}, ${guildId}, value ->> 0, value ->> 1, value ->> 2, CAST(value ->> 3 AS BIGINT)
      FROM ${elements(JSON.stringify(unique))} WHERE true
      ON CONFLICT (pid, guild_id, chat_id, role_id) DO UPDATE SET reason = excluded.reason, at = excluded.at`;
  });

  /** Replaces the problems that name no member. */
  const setPlanProblems = Effect.fnUntraced(function* (place: PlanPlace, found: ReadonlyArray<PlanProblem>) {
    yield* sql`DELETE FROM role_problems WHERE ${isPlan(sql, place)} AND chat_id = ''`;
    yield* addProblems(place, found);
  });

  const operations = {
    due: operation("due", (place, at, limit) =>
      readWaiting(sql`
        SELECT chat_id, mark, since, nickname FROM role_members
        WHERE ${isPlan(sql, place)} AND due_at IS NOT NULL AND due_at <= ${at}
        ORDER BY due_at, chat_id LIMIT ${limit}`),
    ),

    nicknames: operation("nicknames", function* (place, chatIds) {
      const found = yield* readNicknames(sql`
        SELECT pid, guild_id, chat_id, nickname FROM role_members
        WHERE ${isPlan(sql, place)} AND chat_id ${isAmong(JSON.stringify(chatIds))} AND nickname IS NOT NULL`);
      return new Map(found.map(({ chatId, nickname }) => [chatId, nickname]));
    }),

    mark: transaction("mark", function* (write) {
      const { pid, guildId, node, at, position, chatIds, erased, sweepOf } = write;
      const sweep = sweepOf === null ? sql`` : sql`, ${sweepStart(sql, sweepOf, at)}`;
      const held = sql`
        UPDATE role_plans SET position = ${position} ${sweep} WHERE ${isPlan(sql, write)} AND holder = ${node}`;
      if (!(yield* wrote(held))) return false;
      if (chatIds.length === 0) return true;
      const rows = JSON.stringify(Array.from(new Set(chatIds), (chatId) => [chatId]));
      yield* sql`
        INSERT INTO role_members (pid, guild_id, chat_id, mark, since, due_at)
        SELECT ${pid}, ${guildId}, value ->> 0, 1, CAST(${at} AS BIGINT), CAST(${at} AS BIGINT)
        FROM ${elements(rows)} WHERE true
        ${markAgain}`;
      if (erased.length === 0) return true;
      yield* sql`
        UPDATE role_members SET nickname = ${erasedLink}
        WHERE ${isPlan(sql, write)} AND chat_id ${isAmong(JSON.stringify(erased))} AND nickname IS NULL`;
      return true;
    }),

    markMember: operation("markMember", function* (guildId, chatId, at) {
      yield* sql`
        INSERT INTO role_members (pid, guild_id, chat_id, mark, since, due_at)
        SELECT pid, guild_id, ${chatId}, 1, CAST(${at} AS BIGINT), CAST(${at} AS BIGINT)
        FROM role_plans WHERE guild_id = ${guildId} AND state = 'on'
        ${markAgain}`;
    }),

    settle: transaction("settle", function* (write) {
      const { node, at, members, revision, sweep } = write;
      const [plan] = yield* lockPlan(write);
      if (plan === undefined || plan.holder !== node) return false;
      const ofPlan = write.problems ?? [];
      const isChanged = yield* settleMembers(write, members, at);
      yield* addProblems(write, ofPlan);
      const isRunning = plan.sweep_total !== null && plan.revision === revision;
      if (isChanged || ofPlan.length > 0 || (isRunning && sweep === "ended")) yield* note(write, at);
      yield* countChanges(sql, write, plan.changed_days, at, write.changes);
      if (sweep === null || !isRunning) return true;
      if (sweep === "ended") {
        yield* sql`UPDATE role_plans SET swept_at = ${at}, sweep_total = NULL WHERE ${isPlan(sql, write)}`;
        yield* sql`DELETE FROM role_problems WHERE ${isPlan(sql, write)} AND at < ${plan.sweep_started_at}`;
      } else {
        yield* sql`
          UPDATE role_plans SET sweep_after = ${sweep.after}, sweep_done = ${sweep.done}, sweep_total = ${sweep.total}
          WHERE ${isPlan(sql, write)}`;
      }
      return true;
    }),

    setProblem: transaction("setProblem", function* (place, reason, at) {
      const [plan] = yield* lockPlan(place);
      if (plan === undefined) return;
      const wasKnown = yield* wrote(sql`
        DELETE FROM role_problems
        WHERE ${isPlan(sql, place)} AND chat_id = '' AND role_id = '' AND reason = ${reason}`);
      if (at !== null) yield* addProblems(place, [{ chatId: null, roleId: null, reason, at }]);
      if (wasKnown || at !== null) yield* note(place, at ?? 0);
    }),

    settleOne: transaction("settleOne", function* (place, member, at, changes) {
      const [plan] = yield* lockPlan(place);
      if (plan === undefined) return;
      if (yield* settleMembers(place, [member], at)) yield* note(place, at);
      yield* countChanges(sql, place, plan.changed_days, at, changes);
    }),
  } satisfies Partial<RolePlanStore["Service"]>;
  return { operations, setPlanProblems };
};

/** Finds the nicknames and problems stored for a chat user. */
export const findUserRoles = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, chatId: ChatId) {
  const members = yield* readOwnNicknames(sql`
    SELECT pid, guild_id, replaced_nickname,
      CASE WHEN nickname NOT IN (${erasedNickname}, ${erasedLink}) THEN nickname END AS nickname
    FROM role_members WHERE chat_id = ${chatId}`);
  const found = new Map<string, UserRoles>();
  for (const { pid, guildId, nickname, replacedNickname } of members) {
    if (nickname === null && replacedNickname === null) continue;
    found.set(`${pid} ${guildId}`, { pid, guildId, nickname, replacedNickname, problems: [] });
  }
  const placed = yield* readPlacedProblems(sql`
    SELECT pid, guild_id, ${problemColumns} FROM role_problems WHERE chat_id = ${chatId} ORDER BY role_id`);
  for (const { pid, guildId, ...problem } of placed) {
    const name = `${pid} ${guildId}`;
    const roles = found.get(name) ?? { pid, guildId, nickname: null, replacedNickname: null, problems: [] };
    found.set(name, { ...roles, problems: [...roles.problems, problemOf(problem)] });
  }
  return [...found.values()].toSorted(placeOrder);
});

/**
 * Forgets the stored nicknames and problems of a chat user. Role changes that are still due for the user stay due, and
 * so does the removal of a nickname that a plan set.
 */
export const forgetUserRoles = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, chatId: ChatId) {
  const isOn = sql`EXISTS (
    SELECT 1 FROM role_plans
    WHERE role_plans.pid = role_members.pid AND role_plans.guild_id = role_members.guild_id AND state = 'on'
  )`;
  yield* sql`
    UPDATE role_members SET replaced_nickname = NULL, replaced_at = NULL
    WHERE chat_id = ${chatId} AND replaced_at IS NOT NULL`;
  yield* sql`
    DELETE FROM role_members WHERE chat_id = ${chatId} AND due_at IS NULL AND (nickname IS NULL OR NOT ${isOn})`;
  yield* sql`
    UPDATE role_members SET nickname = ${erasedNickname} WHERE chat_id = ${chatId} AND nickname <> ${erasedLink}`;
  yield* sql`DELETE FROM role_problems WHERE chat_id = ${chatId}`;
});

const readLocked = schemaReaderOf(
  "role_plans",
  Schema.Struct({
    holder: OptionalText,
    revision: Schema.Int,
    sweep_total: OptionalInt,
    sweep_started_at: OptionalInt,
    changed_days: ChangedDays,
  }),
);

const readWaiting = tableOf("role_members", {
  chatId: ChatId,
  mark: Schema.Int,
  since: Schema.Int,
  nickname: OptionalText,
}).reader((member): WaitingMember => member);

const place = { pid: Pid, guildId: GuildId };

const readOwnNicknames = tableOf("role_members", {
  ...place,
  nickname: OptionalText,
  replacedNickname: OptionalText,
}).reader();

const readNicknames = tableOf("role_members", { ...place, chatId: ChatId, nickname: Schema.String }).reader();

/** `chatId` is empty for problems of the plan. */
const problemFields = {
  chatId: Schema.String,
  roleId: Schema.String,
  reason: literalsOf<PlanProblem["reason"]>({
    role_above_bot: true,
    role_missing: true,
    no_permission: true,
    member_above_bot: true,
    nickname_refused: true,
    role_refused: true,
    item_unknown: true,
    source_closed: true,
    members_hidden: true,
    many_would_lose: true,
    log_channel_closed: true,
    reminders_refused: true,
    reminders_held: true,
  }),
  at: Schema.Int,
};

const problemOf = ({ chatId, roleId, ...problem }: ValuesOf<typeof problemFields>): PlanProblem => ({
  ...problem,
  chatId: chatId === "" ? null : ChatId.make(chatId),
  roleId: roleId === "" ? null : roleId,
});

const problems = tableOf("role_problems", problemFields);

const problemColumns = problems.columns;

/** Returns the newest problems of a plan, one for each cause and role. Reads the rows of the plan once. */
export const sharedProblems = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, plan: PlanPlace) {
  const found = yield* readNamed(sql`
    SELECT ${named.columns} FROM (
      SELECT ${problemColumns}, MAX(at) OVER cause AS newest,
        CAST(SUM(CASE WHEN chat_id = '' THEN 0 ELSE 1 END) OVER cause AS INTEGER) AS count,
        ROW_NUMBER() OVER (
          PARTITION BY reason, role_id ORDER BY CASE WHEN chat_id = '' THEN 1 ELSE 0 END, at DESC, chat_id
        ) AS place
      FROM role_problems WHERE ${isPlan(sql, plan)}
      WINDOW cause AS (PARTITION BY reason, role_id)
    ) AS placed WHERE place <= ${namedMembers} ORDER BY newest DESC, reason, role_id, place`);
  const causes = Arr.groupBy(found, ({ reason, roleId }) => `${reason} ${roleId}`);
  return Object.values(causes)
    .slice(0, shownProblems)
    .map((rows): SharedProblem => {
      const { reason, roleId, newest, count } = rows[0];
      const chatIds = rows.flatMap(({ chatId }) => (chatId === "" ? [] : ChatId.make(chatId)));
      return { reason, roleId: roleId || null, at: newest, chatId: chatIds[0] ?? null, count, chatIds };
    });
});

const named = tableOf("role_problems", { ...problemFields, newest: Schema.Int, count: Schema.Int });

const readNamed = named.reader();

const readPlacedProblems = tableOf("role_problems", { ...place, ...problemFields }).reader();
