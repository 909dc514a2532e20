import { ChatId, GuildId, Pid } from "@accountlink/core";
import {
  type HeldPlan,
  type PlanProblem,
  type PlanState,
  type RolePlan,
  RoleRule,
  type Sweep,
  type WaitingMember,
} from "@accountlink/core/roles";
import { Schema } from "effect";
import { scopeOf } from "../keys/key_row.ts";
import { columnReader, literalSql, literalsOf, tableOf, type ValuesOf } from "../statements/row.ts";

const OptionalInt = Schema.NullOr(Schema.Int);
const OptionalText = Schema.NullOr(Schema.String);

const planFields = {
  pid: Pid,
  account: Schema.String,
  scopeGuild: Schema.NullOr(GuildId),
  guildId: GuildId,
  rules: Schema.fromJsonString(Schema.Array(RoleRule)),
  nickname: OptionalText,
  nicknameGroupId: OptionalText,
  bypassRoleId: OptionalText,
  state: literalsOf<PlanState>({ on: true, paused: true }),
};

export const planColumns = literalSql(`
  role_plans.pid, scopes.account, scopes.guild_id AS scope_guild, role_plans.guild_id, role_plans.rules,
  role_plans.nickname, role_plans.nickname_group_id, role_plans.bypass_role_id, role_plans.state`);

export const planTables = literalSql("role_plans JOIN scopes ON scopes.pid = role_plans.pid");

type PlanValues = ValuesOf<typeof planFields>;

const planOf = <Plan extends PlanValues>({ pid, account, scopeGuild, ...plan }: Plan) => ({
  ...plan,
  scope: scopeOf({ pid, account, guildId: scopeGuild }),
});

export const readPlans = tableOf("role_plans", planFields).reader((plan): RolePlan => planOf(plan));

const sweepFields = {
  sweptAt: OptionalInt,
  sweepAfter: Schema.NullOr(ChatId),
  sweepDone: Schema.Int,
  sweepTotal: OptionalInt,
};

export const sweepColumns = literalSql(
  "role_plans.swept_at, role_plans.sweep_after, role_plans.sweep_done, role_plans.sweep_total",
);

const sweepOf = ({
  sweepAfter,
  sweepDone,
  sweepTotal,
}: Omit<ValuesOf<typeof sweepFields>, "sweptAt">): Sweep | null =>
  sweepTotal === null ? null : { after: sweepAfter, done: sweepDone, total: sweepTotal };

export const readHeldPlans = tableOf("role_plans", {
  ...planFields,
  ...sweepFields,
  position: Schema.Int,
  revision: Schema.Int,
  nextDueAt: OptionalInt,
  oldestSince: OptionalInt,
}).reader(
  ({ sweepAfter, sweepDone, sweepTotal, ...plan }): HeldPlan => ({
    ...planOf(plan),
    sweep: sweepOf({ sweepAfter, sweepDone, sweepTotal }),
  }),
);

export const readStatuses = tableOf("role_plans", { ...sweepFields, pending: Schema.Int }).reader(
  ({ pending, sweptAt, ...sweep }) => ({ pending, sweptAt, sweep: sweepOf(sweep) }),
);

export const readWaiting = tableOf("role_members", {
  chatId: ChatId,
  mark: Schema.Int,
  since: Schema.Int,
  nickname: OptionalText,
}).reader((member): WaitingMember => member);

const reasons = literalsOf<PlanProblem["reason"]>({
  role_above_bot: true,
  role_missing: true,
  no_permission: true,
  member_above_bot: true,
});

const problemFields = { chatId: ChatId, roleId: Schema.String, reason: reasons, at: Schema.Int };

const problemOf = ({ roleId, ...problem }: ValuesOf<typeof problemFields>): PlanProblem => ({
  ...problem,
  roleId: roleId === "" ? null : roleId,
});

const problems = tableOf("role_problems", problemFields);

export const problemColumns = problems.columns;

export const readProblems = problems.reader(problemOf);

const place = { pid: Pid, guildId: GuildId };

/** Reads each problem with the pid and guild of its plan. */
export const readPlacedProblems = tableOf("role_problems", { ...place, ...problemFields }).reader(
  ({ pid, guildId, ...problem }) => ({ pid, guildId, problem: problemOf(problem) }),
);

export const readPlacedNicknames = tableOf("role_members", {
  ...place,
  nickname: Schema.String,
}).reader((row) => row);

export const readNodes = columnReader("role_plan_nodes", "id", Schema.String);

export const readNicknames = tableOf("role_members", { chatId: ChatId, nickname: Schema.String }).reader(
  ({ chatId, nickname }) => [chatId, nickname] as const,
);
