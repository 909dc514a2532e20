import type { ChatId, Pid } from "@accountlink/core";
import {
  changedSettings,
  concernsMembers,
  logProblems,
  noPlan,
  type PlanPlace,
  type PlanProblem,
  type PlanWrite,
  type PutPlan,
  placeOrder,
  planEntryDetails,
  type RolePlan,
  RolePlanStore,
  type SettledMember,
  shownProblems,
} from "@accountlink/core/roles";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { Option, Order } from "effect";
import { closedSince, followPlan } from "./guild_log_store.ts";
import { nameOf, previewsOf } from "./role_previews.ts";
import { earliest, layerOf, type Memory, type MemoryPlan, type PlanMember } from "./state.ts";

export const layer = layerOf(RolePlanStore, (memory) => {
  const { rolePlans, rolePlanNodes } = memory;
  const { confirmPreview, forgetPreview, ...previews } = previewsOf(memory);
  const find = (place: PlanPlace) => rolePlans.get(nameOf(place));
  const store = (plan: MemoryPlan): void => void rolePlans.set(nameOf(plan), plan);

  const heldBy = (write: PlanPlace & { readonly node: string }) => {
    const stored = find(write);
    return stored?.holder === write.node ? stored : undefined;
  };

  const planOf = ({ pid, guildId, settings }: MemoryPlan): RolePlan => {
    const { scope } = memory.linksOf(pid);
    return { ...settings, scope, guildId };
  };

  const isSuspended = ({ pid }: MemoryPlan) =>
    memory.accounts.get(memory.linksOf(pid).scope.account)?.status === "suspended";

  const recordChange = (
    { pid, actor, requestId, at }: PlanWrite,
    action: "roles.updated" | "roles.deleted",
    details: ReturnType<typeof planEntryDetails>,
  ) => memory.record({ actor, requestId, at, action, details, pid });

  const put = (write: PutPlan): boolean => {
    const { pid, guildId, settings } = write;
    const stored = find(write);
    const isTaken = [...rolePlans.values()].some(
      (plan) => plan.guildId === guildId && plan.pid !== pid && isOn(plan),
    );
    if (settings.state === "on" && isTaken) return false;
    memory.linksOf(pid);
    confirmPreview(write);
    const before = stored?.settings ?? noPlan;
    const changed = changedSettings(before, settings);
    if (changed.length === 0) return true;
    assertStorable([JSON.stringify(settings.rules), settings.nickname ?? ""]);
    recordChange(write, "roles.updated", planEntryDetails(write, before, settings));
    followPlan(memory, write, before.logChannelId);
    if (stored !== undefined && !concernsMembers(changed)) {
      store({ ...stored, settings });
      return true;
    }
    stored?.problems.delete("");
    store(changedPlan(stored, write));
    return true;
  };

  return {
    find: (place) => Option.map(Option.fromUndefinedOr(find(place)), planOf),
    findOn: (guildId) => {
      const found = [...rolePlans.values()].find(
        (plan) => plan.guildId === guildId && isOn(plan) && !isSuspended(plan),
      );
      return Option.map(Option.fromUndefinedOr(found), planOf);
    },
    findHome: (guildId) => {
      const of = [...rolePlans.values()].filter((plan) => plan.guildId === guildId && !isSuspended(plan));
      const last = of.filter(({ pausedAt }) => pausedAt !== null).toSorted(pausedOrder)[0];
      return Option.map(Option.fromUndefinedOr(of.find(isOn) ?? last), planOf);
    },
    list: (pid) => plansOf(memory, pid).map(planOf),

    status: (place) => {
      const stored = find(place);
      return {
        pending: waitingOf(stored).length,
        sweptAt: stored?.sweptAt ?? null,
        sweep: sweepOf(stored),
        problems: [...(stored?.problems.values() ?? []), logProblems(closedSince(memory, place))]
          .flat()
          .toSorted(problemOrder)
          .slice(0, shownProblems),
      };
    },

    ...previews,

    put,

    pause: (write) => {
      const stored = find(write);
      if (!isOn(stored)) return false;
      const { position, settings } = stored;
      const isPaused = put({ ...write, position, settings: { ...settings, state: "paused" } });
      storeProblems(stored, "", write.problems ?? []);
      return isPaused;
    },

    remove: (write) => {
      const stored = find(write);
      if (stored === undefined) return false;
      recordChange(write, "roles.deleted", planEntryDetails(write, stored.settings));
      forgetPreview(write);
      const settings = { ...stored.settings, logChannelId: null };
      followPlan(memory, { ...stored, settings }, stored.settings.logChannelId);
      return rolePlans.delete(nameOf(write));
    },

    startSweep: (place, at) => {
      const stored = find(place);
      if (!isOn(stored)) return false;
      store(sweeping(stored, 0, at));
      return true;
    },

    hold: ({ node, at, until, limit }) => {
      if (until <= at) rolePlanNodes.delete(node);
      else rolePlanNodes.set(node, until);
      const isFree = (plan: MemoryPlan) =>
        isOn(plan) && (plan.holder === null || (rolePlanNodes.get(plan.holder) ?? 0) <= at);
      const free = until <= at ? [] : [...rolePlans.values()].filter(isFree).slice(0, limit);
      for (const plan of free) store({ ...plan, holder: node });
      return [...rolePlans.values()]
        .filter((plan) => plan.holder === node && until > at && isOn(plan) && !isSuspended(plan))
        .map((plan) => {
          const waiting = waitingOf(plan);
          return {
            ...planOf(plan),
            position: plan.position,
            revision: plan.revision,
            sweptAt: plan.sweptAt,
            sweep: sweepOf(plan),
            nextDueAt: earliest(waiting.map(({ waits }) => waits.dueAt)),
            oldestSince: earliest(waiting.map(({ waits }) => waits.since)),
          };
        });
    },

    mark: (write) => {
      const stored = heldBy(write);
      if (stored === undefined) return false;
      const { at, position, chatIds, sweepOf: total } = write;
      for (const chatId of new Set(chatIds)) markWaiting(stored, chatId, at);
      const read = { ...stored, position };
      store(total === null ? read : sweeping(read, total, at));
      return true;
    },

    markMember: (guildId, chatId, at) => {
      for (const stored of rolePlans.values()) {
        if (stored.guildId === guildId && isOn(stored)) markWaiting(stored, chatId, at);
      }
    },

    firstNode: (prefix, at) => {
      const live = [...rolePlanNodes].filter(([id, until]) => id.startsWith(prefix) && until > at);
      return Option.fromUndefinedOr(live.map(([id]) => id).toSorted()[0]);
    },

    due: (place, at, limit) =>
      waitingOf(find(place))
        .filter(({ waits }) => waits.dueAt <= at)
        .toSorted(
          (one, other) => one.waits.dueAt - other.waits.dueAt || Order.String(one.chatId, other.chatId),
        )
        .slice(0, limit)
        .map(({ chatId, mark, waits, nickname }) => ({ chatId, mark, since: waits.since, nickname })),

    nicknames: (place, chatIds) => {
      const members = find(place)?.members;
      return new Map(
        chatIds.flatMap((chatId) => {
          const nickname = members?.get(chatId)?.nickname ?? null;
          return nickname === null ? [] : [[chatId, nickname]];
        }),
      );
    },

    settle: (write) => {
      const stored = heldBy(write);
      if (stored === undefined) return false;
      const { at, members, revision, sweep } = write;
      for (const member of members) settleMember(stored, member, at);
      addPlanProblems(stored, write.problems ?? []);
      const { sweep: running } = stored;
      if (running === null || sweep === null || revision !== stored.revision) return true;
      if (sweep === "ended") {
        for (const [chatId, problems] of stored.problems) {
          const left = problems.filter((problem) => problem.at >= running.startedAt);
          storeProblems(stored, chatId, left);
        }
        store({ ...stored, sweptAt: at, sweep: null });
      } else store({ ...stored, sweep: { ...sweep, startedAt: running.startedAt } });
      return true;
    },

    settleOne: (place, member, at) => {
      const stored = find(place);
      if (stored !== undefined) settleMember(stored, member, at);
    },
  };
});

const isOn = (plan: MemoryPlan | undefined): plan is MemoryPlan => plan?.settings.state === "on";

/** The plan after a change that concerns members. */
const changedPlan = (
  stored: MemoryPlan | undefined,
  { pid, guildId, settings, position, at }: PutPlan,
): MemoryPlan => {
  const plan: MemoryPlan = {
    pid,
    guildId,
    revision: 0,
    sweptAt: null,
    pausedAt: null,
    holder: null,
    members: new Map(),
    problems: new Map(),
    ...stored,
    settings,
    position: isOn(stored) ? stored.position : position,
    sweep: null,
  };
  return settings.state === "on"
    ? { ...sweeping(plan, 0, at), pausedAt: null }
    : { ...plan, revision: plan.revision + 1, pausedAt: isOn(stored) ? at : plan.pausedAt };
};

/** Sorts paused plans: the one that was on last first. */
const pausedOrder = (one: MemoryPlan, other: MemoryPlan): number =>
  (other.pausedAt ?? 0) - (one.pausedAt ?? 0) || Order.String(one.pid, other.pid);

const plansOf = (memory: Memory, pid: Pid): ReadonlyArray<MemoryPlan> =>
  [...memory.rolePlans.values()].filter((plan) => plan.pid === pid).toSorted(placeOrder);

const sweepOf = (stored: MemoryPlan | undefined) => {
  if (stored === undefined || stored.sweep === null) return null;
  const { startedAt: _, ...sweep } = stored.sweep;
  return sweep;
};

const sweeping = (plan: MemoryPlan, total: number, at: Millis): MemoryPlan => ({
  ...plan,
  revision: plan.revision + 1,
  sweep: { after: null, done: 0, total, startedAt: at },
});

const waitingOf = (stored: MemoryPlan | undefined) =>
  [...(stored?.members ?? [])].flatMap(([chatId, { waits, ...member }]) =>
    waits === null ? [] : [{ chatId, ...member, waits }],
  );

const markWaiting = ({ members }: MemoryPlan, chatId: ChatId, at: Millis): void => {
  const { mark = 0, waits = null, nickname = null } = members.get(chatId) ?? {};
  members.set(chatId, { mark: mark + 1, waits: { since: waits?.since ?? at, dueAt: at }, nickname });
};

const settleMember = (stored: MemoryPlan, settled: SettledMember, at: Millis): void => {
  const { chatId, mark: read, retryAt, nickname, problems } = settled;
  assertStorable([nickname ?? ""]);
  storeProblems(
    stored,
    chatId,
    problems.filter((problem) => !isOfPlan(problem)),
  );
  addPlanProblems(stored, problems.filter(isOfPlan));
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

const isOfPlan = (problem: PlanProblem): boolean => problem.chatId === null;

const addPlanProblems = (stored: MemoryPlan, added: ReadonlyArray<PlanProblem>): void => {
  for (const problem of added) {
    const others = (stored.problems.get("") ?? []).filter(({ roleId }) => roleId !== problem.roleId);
    storeProblems(stored, "", [...others, problem]);
  }
};

const storeProblems = (
  { problems }: MemoryPlan,
  chatId: ChatId | "",
  left: ReadonlyArray<PlanProblem>,
): void => {
  if (left.length === 0) problems.delete(chatId);
  else problems.set(chatId, left);
};

/** Sorts problems: the newest first, then by chat ID and role. */
const problemOrder = (one: PlanProblem, other: PlanProblem): number =>
  other.at - one.at ||
  Order.String(one.chatId ?? "", other.chatId ?? "") ||
  Order.String(one.roleId ?? "", other.roleId ?? "");
