/** What storages keep of role plans, of their members and of the problems of both. */
import { Effect, Schema } from "effect";
import { placeOrder } from "../communities/community.ts";
import type { DataScope } from "../data_scope.ts";
import { ChatId, GuildId, Pid } from "../ids.ts";
import { roleRefusals } from "../platforms/chat_platform.ts";
import { type RecordOf, recordType, type Tx } from "../records/mod.ts";
import { hourMs, type Millis } from "../timestamp.ts";
import {
  namedMembers,
  type PlanProblem,
  type PlanSettings,
  planProblems,
  planSettings,
  type RolePlan,
  RoleRule,
  type SharedProblem,
  type Sweep,
} from "./role_plan.ts";
import {
  erasedLink,
  erasedNickname,
  isErasedMark,
  type PlanPlace,
  type UserRoles,
} from "./role_plan_store.ts";

const time = Schema.NullOr(Schema.Int);
const text = Schema.NullOr(Schema.String);
const { Int } = Schema;

/** @internal */
export const rolePlans = recordType({
  name: "role_plans",
  fields: {
    pid: Pid,
    guildId: GuildId,
    rules: Schema.Array(RoleRule),
    nickname: text,
    nicknameGroupId: text,
    /** The first of `bypassRoleIds`. Releases that know one bypass role store it here alone. */
    bypassRoleId: text,
    bypassRoleIds: Schema.NullOr(planSettings.bypassRoleIds.schema),
    nicknameBypassRoleIds: Schema.NullOr(planSettings.nicknameBypassRoleIds.schema),
    unlinked: planSettings.unlinked.schema,
    state: planSettings.state.schema,
    position: Int,
    revision: Int,
    sweptAt: time,
    sweepAfter: Schema.NullOr(ChatId),
    sweepDone: Int,
    /** Null while no sweep runs. */
    sweepTotal: time,
    sweepStartedAt: time,
    /** The node that works on the plan; null if no node does. */
    holder: text,
    /** Null until the plan has changed a member. */
    changedDays: Schema.NullOr(
      Schema.Array(Schema.Struct({ day: Int, rolesGiven: Int, rolesTaken: Int, nicknamesSet: Int })),
    ),
    /** When somebody asked to put nicknames back; null if nobody did. */
    puttingBackSince: time,
  },
  json: ["rules", "bypassRoleIds", "nicknameBypassRoleIds", "changedDays"],
  key: ["pid", "guildId"],
  indexes: {
    on: { fields: ["guildId", "pid"], group: 1, only: { field: "state", values: ["on"] } },
    byHolder: { fields: ["holder", "pid", "guildId"], only: { field: "state", values: ["on"] } },
    puttingBack: { fields: ["puttingBackSince", "pid", "guildId"] },
  },
  isOfAccount: true,
  // A guild has at most one plan that is on.
  held: { index: "byHolder", nodes: "role_plan_nodes", key: "guildId" },
});

/** @internal */
export type PlanRecord = RecordOf<typeof rolePlans>;

/** Guild members with a pending change of roles, or with a nickname that the plan set or replaced. @internal */
export const roleMembers = recordType({
  name: "role_members",
  fields: {
    pid: Pid,
    guildId: GuildId,
    chatId: ChatId,
    mark: Int,
    /** Null, as `dueAt` is, unless a change is pending. */
    since: time,
    dueAt: time,
    nickname: text,
    replacedNickname: text,
    /** Null unless the plan replaced a nickname lately. */
    replacedAt: time,
  },
  key: ["pid", "guildId", "chatId"],
  indexes: {
    due: { fields: ["pid", "guildId", "dueAt", "chatId"] },
    since: { fields: ["pid", "guildId", "since"] },
    byUser: { fields: ["chatId", "pid", "guildId"], group: 1 },
    replaced: { fields: ["pid", "guildId", "chatId", "replacedAt"] },
    byReplacedAt: { fields: ["replacedAt", "pid", "guildId", "chatId"] },
  },
});

/** @internal */
export type PlanMember = RecordOf<typeof roleMembers>;

/** @internal */
export const roleProblems = recordType({
  name: "role_problems",
  fields: {
    pid: Pid,
    guildId: GuildId,
    /** Empty for problems of the plan. */
    chatId: Schema.String,
    /** Empty if the problem concerns the nickname or the plan. */
    roleId: Schema.String,
    reason: Schema.Literals([...roleRefusals, ...planProblems]),
    at: Int,
  },
  key: ["pid", "guildId", "chatId", "roleId"],
  indexes: {
    byTime: { fields: ["pid", "guildId", "at"] },
    /** The newest problem of each cause and role first. */
    byCause: { fields: ["pid", "guildId", "reason", "roleId", "-at", "chatId"] },
    byUser: { fields: ["chatId", "pid", "guildId", "roleId"], group: 1 },
  },
  ofUser: { index: "byUser", erasedAs: null },
});

type ProblemRecord = RecordOf<typeof roleProblems>;

/** How long reminders rest after refusals, in milliseconds. Their problems last as long, whatever a sweep finds. @internal */
export const remindersRest = hourMs;

/** Returns whether a problem that was not found again is over. @internal */
export const hasEnded = ({ reason, at }: Pick<ProblemRecord, "reason" | "at">, now: Millis): boolean =>
  (reason !== "reminders_refused" && reason !== "reminders_held") || at <= now - remindersRest;

/** @internal */
export const isOn = (plan: PlanRecord | undefined): plan is PlanRecord => plan?.state === "on";

/** @internal */
export const settingsOf = ({
  bypassRoleId,
  bypassRoleIds,
  nicknameBypassRoleIds,
  ...plan
}: Omit<PlanRecord, "pid" | "guildId">): PlanSettings => ({
  rules: plan.rules,
  nickname: plan.nickname,
  nicknameGroupId: plan.nicknameGroupId,
  bypassRoleIds: bypassRoleIds ?? (bypassRoleId === null ? [] : [bypassRoleId]),
  nicknameBypassRoleIds: nicknameBypassRoleIds ?? [],
  unlinked: plan.unlinked,
  state: plan.state,
});

/** @internal */
export const planOf = (plan: PlanRecord, scope: DataScope): RolePlan => ({
  ...settingsOf(plan),
  scope,
  guildId: plan.guildId,
});

/** @internal */
export const noSweep = { sweepAfter: null, sweepDone: 0, sweepTotal: null, sweepStartedAt: null };

/** @internal */
export const sweepOf = ({
  sweepAfter: after,
  sweepDone: done,
  sweepTotal: total,
}: PlanRecord): Sweep | null => (total === null ? null : { after, done, total });

/** @internal */
export const problemRecord = (
  { pid, guildId }: PlanPlace,
  { chatId, roleId, reason, at }: PlanProblem,
): ProblemRecord => ({ pid, guildId, chatId: chatId ?? "", roleId: roleId ?? "", reason, at });

const problemOf = ({ chatId, roleId, reason, at }: ProblemRecord): PlanProblem => ({
  chatId: chatId === "" ? null : ChatId.make(chatId),
  roleId: roleId === "" ? null : roleId,
  reason,
  at,
});

/** Returns the problems of a plan, one for each cause and role, in no order. @internal */
export const sharedProblems = Effect.fnUntraced(function* (tx: Tx, { pid, guildId }: PlanPlace) {
  const shared: Array<SharedProblem> = [];
  const ofPlan = yield* tx.list(roleProblems.byKey, [pid, guildId, ""]);
  for (let after: ReadonlyArray<string> | undefined; ; ) {
    const options = { limit: 1, ...(after !== undefined && { after }) };
    const [next] = yield* tx.list(roleProblems.byCause, [pid, guildId], options);
    if (next === undefined) return shared;
    const { reason, roleId } = next;
    after = [reason, roleId];
    const cause = [pid, guildId, reason, roleId];
    const found = yield* tx.list(roleProblems.byCause, cause, { limit: namedMembers + 1 });
    const chatIds = found
      .flatMap(({ chatId }) => problemOf({ ...next, chatId }).chatId ?? [])
      .slice(0, namedMembers);
    const unnamed = ofPlan.filter((problem) => problem.reason === reason && problem.roleId === roleId).length;
    const count = (yield* tx.count(roleProblems.byCause, cause)) - unnamed;
    shared.push({ ...problemOf(next), chatId: chatIds[0] ?? null, count, chatIds });
  }
});

/** Finds the nicknames and problems stored for a chat user. @internal */
export const rolesOfUser = Effect.fnUntraced(function* (tx: Tx, chatId: ChatId) {
  const found = new Map<string, UserRoles>();
  const rolesIn = ({ pid, guildId }: PlanPlace): UserRoles =>
    found.get(`${pid} ${guildId}`) ?? { pid, guildId, nickname: null, replacedNickname: null, problems: [] };
  const add = (roles: UserRoles) => found.set(`${roles.pid} ${roles.guildId}`, roles);
  for (const member of yield* tx.list(roleMembers.byUser, [chatId])) {
    const { nickname: stored, replacedNickname } = member;
    const nickname = isErasedMark(stored) ? null : stored;
    if (nickname !== null || replacedNickname !== null)
      add({ ...rolesIn(member), nickname, replacedNickname });
  }
  for (const problem of yield* tx.list(roleProblems.byUser, [chatId])) {
    const roles = rolesIn(problem);
    add({ ...roles, problems: [...roles.problems, problemOf(problem)] });
  }
  return [...found.values()].toSorted(placeOrder);
});

/**
 * Forgets up to `limit` nicknames of a chat user. Role changes that are still due for the user stay due, and so does the
 * removal of a nickname that a plan set. Returns whether more may be left. @internal
 */
export const forgetInPlans = Effect.fnUntraced(function* (tx: Tx, chatId: ChatId, limit: number) {
  let left = limit;
  for (const { pid, guildId, ...listed } of yield* tx.list(roleMembers.byUser, [chatId])) {
    const { dueAt, nickname, replacedAt } = listed;
    const isNamed = replacedAt !== null || (nickname !== null && !isErasedMark(nickname));
    if (!isNamed && dueAt !== null) continue;
    const isShown =
      nickname !== null && (yield* tx.list(rolePlans.on, [guildId])).some((plan) => plan.pid === pid);
    if (!isNamed && isShown) continue;
    if (left-- === 0) return true;
    const member = yield* tx.get(roleMembers, pid, guildId, chatId);
    if (member === undefined) continue;
    if (member.dueAt === null && !isShown) yield* tx.remove(roleMembers, pid, guildId, chatId);
    else {
      const mark = member.nickname === erasedLink ? erasedLink : member.nickname && erasedNickname;
      yield* tx.put(roleMembers, { ...member, nickname: mark, replacedNickname: null, replacedAt: null });
    }
  }
  return false;
});
