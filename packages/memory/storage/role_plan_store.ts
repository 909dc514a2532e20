import type { ChatId, Pid } from "@accountlink/core";
import {
  changedSettings,
  erasedNickname,
  type HeldPlan,
  type HeldWrite,
  type HoldItems,
  type MarkMembers,
  noPlan,
  type PlanPlace,
  type PlanProblem,
  type PlanStatus,
  type PlanWrite,
  type PutPlan,
  placeOrder,
  planEntryDetails,
  type RolePlan,
  RolePlanStore,
  type SettledMember,
  type SettleMembers,
  type Sweep,
  shownProblems,
  type UserRoles,
  type WaitingMember,
} from "@accountlink/core/roles";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { Option, Order } from "effect";
import { earliest, layerOf, type Memory, type MemoryPlan, type PlanMember } from "./state/state.ts";

export const layer = layerOf(RolePlanStore, (memory) => {
  const find = (place: PlanPlace) => memory.rolePlans.get(nameOf(place));
  return {
    find: (place) => Option.map(Option.fromUndefinedOr(find(place)), (stored) => planOf(memory, stored)),
    findOn: (guildId) => {
      const plans = [...memory.rolePlans.values()];
      const stored = plans.find((plan) => plan.guildId === guildId && plan.settings.state === "on");
      return Option.filter(
        Option.map(Option.fromUndefinedOr(stored), (found) => planOf(memory, found)),
        ({ scope }) => memory.accounts.get(scope.account)?.status === "active",
      );
    },
    list: (pid) => plansOf(memory, pid).map((stored) => planOf(memory, stored)),
    status: (place) => statusOf(find(place)),
    put: (write) => put(memory, write),
    pause: (write) => {
      const stored = find(write);
      if (stored?.settings.state !== "on") return false;
      const { position, settings } = stored;
      return put(memory, { ...write, position, settings: { ...settings, state: "paused" } });
    },
    remove: (write) => {
      const stored = find(write);
      if (stored === undefined) return false;
      recordChange(memory, write, "roles.deleted", planEntryDetails(write, stored.settings));
      return memory.rolePlans.delete(nameOf(write));
    },
    startSweep: (place, at) => {
      const stored = find(place);
      if (stored?.settings.state !== "on") return false;
      store(memory, sweeping(stored, 0, at));
      return true;
    },
    hold: (hold) => holdPlans(memory, hold),
    mark: (write) => mark(memory, write),
    markMember: (guildId, chatId, at) => {
      for (const stored of memory.rolePlans.values()) {
        if (stored.guildId === guildId && stored.settings.state === "on") markWaiting(stored, chatId, at);
      }
    },
    firstNode: (prefix, at) => {
      const live = [...memory.rolePlanNodes].filter(([id, until]) => id.startsWith(prefix) && until > at);
      return Option.fromUndefinedOr(live.map(([id]) => id).toSorted()[0]);
    },
    due: (place, at, limit) => due(find(place), at, limit),
    nicknames: (place, chatIds) => {
      const members = find(place)?.members;
      return new Map(
        chatIds.flatMap((chatId) => {
          const nickname = members?.get(chatId)?.nickname ?? null;
          return nickname === null ? [] : [[chatId, nickname]];
        }),
      );
    },
    settle: (write) => settle(memory, write),
    settleOne: (place, member, at) => {
      const stored = find(place);
      if (stored !== undefined) settleMember(stored, member, at);
    },
  };
});

const nameOf = ({ pid, guildId }: PlanPlace): string => `${pid} ${guildId}`;

const store = (memory: Memory, plan: MemoryPlan): void => void memory.rolePlans.set(nameOf(plan), plan);

const plansOf = (memory: Memory, pid: Pid): ReadonlyArray<MemoryPlan> =>
  [...memory.rolePlans.values()].filter((plan) => plan.pid === pid).toSorted(placeOrder);

const planOf = (memory: Memory, { pid, guildId, settings }: MemoryPlan): RolePlan => ({
  ...settings,
  scope: memory.linksOf(pid).scope,
  guildId,
});

const statusOf = (stored: MemoryPlan | undefined): PlanStatus => ({
  pending: waitingOf(stored).length,
  sweptAt: stored?.sweptAt ?? null,
  sweep: sweepOf(stored),
  problems: [...(stored?.problems.values() ?? [])].flat().toSorted(problemOrder).slice(0, shownProblems),
});

const sweepOf = (stored: MemoryPlan | undefined): Sweep | null => {
  if (stored === undefined || stored.sweep === null) return null;
  const { startedAt: _, ...sweep } = stored.sweep;
  return sweep;
};

const recordChange = (
  memory: Memory,
  { pid, actor, requestId, at }: PlanWrite,
  action: "roles.updated" | "roles.deleted",
  details: ReturnType<typeof planEntryDetails>,
): void => memory.record({ actor, requestId, at, action, details, scope: memory.linksOf(pid).scope });

const put = (memory: Memory, write: PutPlan): boolean => {
  const { pid, guildId, settings, position, at } = write;
  const stored = memory.rolePlans.get(nameOf(write));
  const before = stored?.settings ?? noPlan;
  const isOn = settings.state === "on";
  const isTaken = [...memory.rolePlans.values()].some(
    (plan) => plan.guildId === guildId && plan.pid !== pid && plan.settings.state === "on",
  );
  if (isOn && isTaken) return false;
  memory.linksOf(pid);
  const changed = changedSettings(before, settings);
  if (changed.length === 0) return true;
  assertStorable([JSON.stringify(settings.rules), settings.nickname ?? ""]);
  recordChange(memory, write, "roles.updated", planEntryDetails(write, settings, changed));
  const plan: MemoryPlan = {
    pid,
    guildId,
    revision: 0,
    sweptAt: null,
    holder: null,
    members: new Map(),
    problems: new Map(),
    ...stored,
    settings,
    position: stored !== undefined && before.state === "on" ? stored.position : position,
    sweep: null,
  };
  store(memory, isOn ? sweeping(plan, 0, at) : { ...plan, revision: plan.revision + 1 });
  return true;
};

const sweeping = (plan: MemoryPlan, total: number, at: Millis): MemoryPlan => ({
  ...plan,
  revision: plan.revision + 1,
  sweep: { after: null, done: 0, total, startedAt: at },
});

const holdPlans = (memory: Memory, { node, at, until, limit }: HoldItems): ReadonlyArray<HeldPlan> => {
  const { rolePlans, rolePlanNodes } = memory;
  if (until <= at) rolePlanNodes.delete(node);
  else rolePlanNodes.set(node, until);
  const isFree = ({ holder, settings }: MemoryPlan) =>
    settings.state === "on" && (holder === null || (rolePlanNodes.get(holder) ?? 0) <= at);
  const free = until <= at ? [] : [...rolePlans.values()].filter(isFree).slice(0, limit);
  for (const plan of free) store(memory, { ...plan, holder: node });
  return [...rolePlans.values()].flatMap((plan): ReadonlyArray<HeldPlan> => {
    const held = planOf(memory, plan);
    const isSuspended = memory.accounts.get(held.scope.account)?.status === "suspended";
    if (plan.holder !== node || until <= at || plan.settings.state !== "on" || isSuspended) return [];
    const waiting = waitingOf(plan);
    return [
      {
        ...held,
        position: plan.position,
        revision: plan.revision,
        sweptAt: plan.sweptAt,
        sweep: sweepOf(plan),
        nextDueAt: earliest(waiting.map(([, { waits }]) => waits.dueAt)),
        oldestSince: earliest(waiting.map(([, { waits }]) => waits.since)),
      },
    ];
  });
};

type Waiting = PlanMember & { readonly waits: NonNullable<PlanMember["waits"]> };

const waitingOf = (stored: MemoryPlan | undefined): ReadonlyArray<readonly [ChatId, Waiting]> =>
  [...(stored?.members ?? [])].flatMap(([chatId, member]) =>
    member.waits === null ? [] : [[chatId, { ...member, waits: member.waits }] as const],
  );

const due = (stored: MemoryPlan | undefined, at: Millis, limit: number): ReadonlyArray<WaitingMember> =>
  waitingOf(stored)
    .filter(([, { waits }]) => waits.dueAt <= at)
    .toSorted(
      ([one, { waits }], [other, { waits: others }]) => waits.dueAt - others.dueAt || (one < other ? -1 : 1),
    )
    .slice(0, limit)
    .map(([chatId, { mark: marked, waits, nickname }]) => ({
      chatId,
      mark: marked,
      since: waits.since,
      nickname,
    }));

const heldBy = (memory: Memory, write: HeldWrite): MemoryPlan | undefined => {
  const stored = memory.rolePlans.get(nameOf(write));
  return stored?.holder === write.node ? stored : undefined;
};

const mark = (memory: Memory, write: MarkMembers): boolean => {
  const stored = heldBy(memory, write);
  if (stored === undefined) return false;
  const { at, position, chatIds, sweepOf: total } = write;
  for (const chatId of new Set(chatIds)) markWaiting(stored, chatId, at);
  const read = { ...stored, position };
  store(memory, total === null ? read : sweeping(read, total, at));
  return true;
};

const markWaiting = ({ members }: MemoryPlan, chatId: ChatId, at: Millis): void => {
  const { mark: marked = 0, waits = null, nickname = null } = members.get(chatId) ?? {};
  members.set(chatId, { mark: marked + 1, waits: { since: waits?.since ?? at, dueAt: at }, nickname });
};

const settle = (memory: Memory, write: SettleMembers): boolean => {
  const stored = heldBy(memory, write);
  if (stored === undefined) return false;
  const { at, members, revision, sweep } = write;
  for (const member of members) settleMember(stored, member, at);
  const { sweep: running } = stored;
  if (running === null || sweep === null || revision !== stored.revision) return true;
  if (sweep === "ended") {
    for (const [chatId, problems] of stored.problems) {
      storeProblems(
        stored,
        chatId,
        problems.filter((problem) => problem.at >= running.startedAt),
      );
    }
    store(memory, { ...stored, sweptAt: at, sweep: null });
  } else store(memory, { ...stored, sweep: { ...sweep, startedAt: running.startedAt } });
  return true;
};

const settleMember = (stored: MemoryPlan, settled: SettledMember, at: Millis): void => {
  const { chatId, mark: read, retryAt, nickname, problems } = settled;
  assertStorable([nickname ?? ""]);
  storeProblems(stored, chatId, problems);
  const before = stored.members.get(chatId);
  const waits = waitsAfter(before, read, retryAt, at);
  if (waits === null && nickname === null) stored.members.delete(chatId);
  else stored.members.set(chatId, { mark: before?.mark ?? (read ?? 0) + 1, waits, nickname });
};

const waitsAfter = (
  before: PlanMember | undefined,
  read: number | null,
  retryAt: Millis | null,
  at: Millis,
): PlanMember["waits"] => {
  const waits = before?.waits ?? null;
  if (waits !== null && before?.mark !== read) return waits;
  return retryAt === null ? null : { since: waits?.since ?? at, dueAt: retryAt };
};

const storeProblems = ({ problems }: MemoryPlan, chatId: ChatId, left: ReadonlyArray<PlanProblem>): void => {
  if (left.length === 0) problems.delete(chatId);
  else problems.set(chatId, left);
};

/** Finds the nicknames and problems stored for a chat user, by a scan. */
export const rolesOf = (memory: Memory, chatId: ChatId): ReadonlyArray<UserRoles> =>
  [...memory.rolePlans.values()].flatMap(({ pid, guildId, members, problems }) => {
    const stored = members.get(chatId)?.nickname ?? null;
    const nickname = stored === erasedNickname ? null : stored;
    const theirs = problems.get(chatId) ?? [];
    return nickname === null && theirs.length === 0 ? [] : [{ pid, guildId, nickname, problems: theirs }];
  });

/** Forgets nicknames and problems of a chat user. Pending changes of the user's roles and nickname stay pending. */
export const forgetRoles = (memory: Memory, chatId: ChatId): void => {
  for (const { members, problems, settings } of memory.rolePlans.values()) {
    problems.delete(chatId);
    const member = members.get(chatId);
    if (member === undefined) continue;
    const isShown = member.nickname !== null && settings.state === "on";
    if (member.waits === null && !isShown) members.delete(chatId);
    else members.set(chatId, { ...member, nickname: member.nickname && erasedNickname });
  }
};

/** Sorts problems: the newest first, then by chat ID and role. */
const problemOrder = (one: PlanProblem, other: PlanProblem): number =>
  other.at - one.at ||
  Order.String(one.chatId, other.chatId) ||
  Order.String(one.roleId ?? "", other.roleId ?? "");
