/** Role plans with their members and problems, and what an erasure does to them. */
import type { ChatId } from "@accountlink/core";
import {
  type DayOfChanges,
  erasedLink,
  erasedNickname,
  isErasedMark,
  namedMembers,
  type PlanPlace,
  type PlanProblem,
  type PlanSettings,
  type RoleRule,
  type SharedProblem,
  type Sweep,
  type UserRoles,
} from "@accountlink/core/roles";
import { Effect, Order } from "effect";
import { table } from "../table.ts";
import type { Transaction } from "../transaction.ts";
import type { ScopeRef } from "./scopes.ts";

/** A role plan with its progress. */
export interface KeptPlan extends PlanPlace {
  readonly scope: ScopeRef;
  /** The number of the plan, which a later plan of the place does not get. */
  readonly ref: number;
  /** As the release stored them. `settingsOf` reads them. */
  readonly settings: PlanSettings;
  readonly position: number;
  readonly revision: number;
  readonly sweptAt: number | null;
  readonly sweep: (Sweep & { readonly startedAt: number }) | null;
  /** The node that works on the plan; null if no node does. */
  readonly holder: string | null;
  /** Left out until the plan has changed a member. */
  readonly changedDays?: ReadonlyArray<DayOfChanges>;
  /** When somebody asked to put nicknames back; left out if nobody did. */
  readonly puttingBackSince?: number;
}

type EarlierSettings = Omit<PlanSettings, "rules" | "bypassRoleIds" | "nicknameBypassRoleIds"> & {
  readonly rules: ReadonlyArray<Partial<RoleRule> & Pick<RoleRule, "roleId" | "when">>;
  readonly bypassRoleId?: string | null;
};

/** Returns the settings of a plan that this release or an earlier one stored. */
export const settingsOf = (stored: PlanSettings | EarlierSettings): PlanSettings => {
  if ("bypassRoleIds" in stored) return stored;
  const { bypassRoleId = null, rules, ...settings } = stored;
  return {
    ...settings,
    rules: rules.map(({ roleId, when, nickname = null }) => ({ roleId, when, nickname })),
    bypassRoleIds: bypassRoleId === null ? [] : [bypassRoleId],
    nicknameBypassRoleIds: [],
  };
};

export const isOn = (plan: KeptPlan | undefined): plan is KeptPlan => plan?.settings.state === "on";

export const plans = table<KeptPlan>()("plan", ({ pid, guildId }) => [pid, guildId], {
  byGuild: { keys: ({ pid, guildId }) => [[guildId, pid]], group: 1 },
  byAccount: { keys: ({ scope, pid, guildId }) => [[scope.account, pid, guildId]], group: 1 },
  /** The plans that are on. */
  byHolder: {
    keys: (plan) => (isOn(plan) ? [[plan.holder ?? "", plan.pid, plan.guildId]] : []),
  },
  puttingBack: {
    keys: ({ pid, guildId, puttingBackSince }) => (puttingBackSince === undefined ? [] : [[pid, guildId]]),
  },
});

/** A guild member with a pending change of roles, or with a nickname that the role plan set. */
export interface PlanMember extends PlanPlace {
  readonly ref: number;
  readonly chatId: ChatId;
  readonly mark: number;
  /** The pending change, or null. */
  readonly waits: { readonly since: number; readonly dueAt: number } | null;
  readonly nickname: string | null;
  /** The nickname that the plan replaced lately. Records of earlier releases lack it. */
  readonly replaced?: { readonly nickname: string | null; readonly at: number };
}

export const planMembers = table<PlanMember>()(
  "plan_member",
  ({ ref, chatId }) => [ref, chatId],
  {
    due: { keys: ({ ref, chatId, waits }) => (waits === null ? [] : [[ref, waits.dueAt, chatId]]) },
    since: { keys: ({ ref, chatId, waits }) => (waits === null ? [] : [[ref, waits.since, chatId]]) },
    byUser: { keys: ({ ref, chatId }) => [[chatId, ref]], group: 1 },
    replaced: { keys: ({ ref, chatId, replaced }) => (replaced === undefined ? [] : [[ref, chatId]]) },
    replacedAt: {
      keys: ({ ref, chatId, replaced }) => (replaced === undefined ? [] : [[replaced.at, ref, chatId]]),
    },
  },
  1,
);

export const findPlan = (tx: Transaction, { pid, guildId }: PlanPlace) => tx.get(plans, pid, guildId);

/** Finds a plan if the node holds it. */
export const heldBy = Effect.fnUntraced(function* (
  tx: Transaction,
  write: PlanPlace & { readonly node: string },
) {
  const stored = yield* findPlan(tx, write);
  return stored?.holder === write.node ? stored : undefined;
});

export const readMembers = (tx: Transaction, { ref }: KeptPlan, chatIds: ReadonlyArray<ChatId>) =>
  tx.getAll(planMembers, chatIds, (chatId) => [ref, chatId]);

/** The problems of a member, or problems of the plan, which have no chat ID. */
export interface PlanProblems extends PlanPlace {
  readonly ref: number;
  readonly chatId: ChatId | "";
  readonly problems: ReadonlyArray<PlanProblem>;
}

export const planProblems = table<PlanProblems>()("problems", ({ ref, chatId }) => [ref, chatId], {
  /** By the oldest problem of each. */
  oldest: { keys: ({ ref, chatId, problems }) => [[ref, Math.min(...problems.map(({ at }) => at)), chatId]] },
  /** By cause and role, the newest problem of each first. */
  byCause: {
    keys: ({ ref, chatId, problems }) =>
      problems.map(({ at, roleId, reason }) => [ref, reason, roleId ?? "", -at, chatId]),
  },
  byUser: { keys: ({ ref, chatId }) => (chatId === "" ? [] : [[chatId, ref]]), group: 1 },
});

/** Returns the problems of a plan, one for each cause and role, in no order. */
export const sharedProblems = Effect.fnUntraced(function* (tx: Transaction, ref: number) {
  const shared: Array<SharedProblem> = [];
  let last: PlanProblem | undefined;
  for (;;) {
    const after = last && [last.reason, last.roleId ?? "", Number.MAX_SAFE_INTEGER];
    const [next] = yield* tx.list(planProblems.byCause, [ref], { ...(after && { after }), limit: 1 });
    const [first] = (next?.problems ?? [])
      .filter((problem) => last === undefined || byCause(last, problem) < 0)
      .toSorted(byCause);
    if (first === undefined) return shared;
    last = first;
    const cause = [ref, first.reason, first.roleId ?? ""] as const;
    const found = yield* tx.list(planProblems.byCause, cause, { limit: namedMembers });
    const chatIds = found.flatMap(({ chatId }) => (chatId === "" ? [] : [chatId]));
    // A problem of the plan names nobody.
    const count = chatIds.length < found.length ? 0 : yield* tx.count(planProblems.byCause, cause);
    shared.push({ ...first, chatId: chatIds[0] ?? null, count, chatIds });
  }
});

const byCause = (one: PlanProblem, other: PlanProblem): number =>
  Order.String(one.reason, other.reason) || Order.String(one.roleId ?? "", other.roleId ?? "");

/** Stores the problems of a member or of the plan, in place of earlier ones. Returns whether they may have changed. */
export const storeProblems = Effect.fnUntraced(function* (
  tx: Transaction,
  { ref, pid, guildId }: Pick<KeptPlan, "ref" | "pid" | "guildId">,
  chatId: ChatId | "",
  problems: ReadonlyArray<PlanProblem>,
) {
  if (problems.length === 0) return (yield* tx.remove(planProblems, ref, chatId)) !== undefined;
  yield* tx.put(planProblems, { ref, pid, guildId, chatId, problems });
  return true;
});

/** Finds the nicknames and problems stored for a chat user. */
export const rolesOf = Effect.fnUntraced(function* (tx: Transaction, chatId: ChatId) {
  const members = yield* tx.list(planMembers.byUser, [chatId]);
  const theirs = yield* tx.list(planProblems.byUser, [chatId]);
  const found = new Map<number, UserRoles>();
  for (const { ref, pid, guildId, nickname: stored, replaced } of members) {
    const nickname = isErasedMark(stored) ? null : stored;
    const replacedNickname = replaced?.nickname ?? null;
    if (nickname !== null || replacedNickname !== null)
      found.set(ref, { pid, guildId, nickname, replacedNickname, problems: [] });
  }
  for (const { ref, pid, guildId, problems } of theirs) {
    const { nickname = null, replacedNickname = null } = found.get(ref) ?? {};
    found.set(ref, { pid, guildId, nickname, replacedNickname, problems });
  }
  return [...found.values()];
});

/**
 * Forgets nicknames of a chat user until the step ends. Pending changes of the user's roles and nickname stay pending.
 * Returns whether more may be left.
 */
export const forgetNicknames = Effect.fnUntraced(function* (
  tx: Transaction,
  chatId: ChatId,
  isAtEnd: (tx: Transaction) => boolean,
) {
  for (const stored of yield* tx.list(planMembers.byUser, [chatId])) {
    const { replaced, ...member } = stored;
    const isNamed = replaced !== undefined || (member.nickname !== null && !isErasedMark(member.nickname));
    if (!isNamed && member.waits !== null) continue;
    if (isAtEnd(tx)) return true;
    const isShown = member.nickname !== null && isOn(yield* tx.get(plans, member.pid, member.guildId));
    if (!isNamed && isShown) continue;
    if (member.waits === null && !isShown) yield* tx.remove(planMembers, member.ref, chatId);
    else {
      const nickname = member.nickname === erasedLink ? erasedLink : member.nickname && erasedNickname;
      yield* tx.put(planMembers, { ...member, nickname });
    }
  }
  return false;
});
