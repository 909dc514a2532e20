import { type ChatId, type DataScope, GuildId } from "@accountlink/core";
import type { WriteOrigin } from "@accountlink/core/audit";
import type { PauseReason } from "@accountlink/core/communities";
import {
  type HeldPlan,
  type MarkMembers,
  type PlanProblem,
  type PlanSettings,
  type PlanStatus,
  type RoleChanges,
  RolePlanStore,
  type SettledMember,
  type SettleMembers,
  type SharedProblem,
} from "@accountlink/core/roles";
import { Effect, Option } from "effect";
import { uniqueChatId, uniqueText } from "../../mod.ts";
import { makeScopes, origin } from "../scopes.ts";

/** A number of more than 32 bits, which a store with 32-bit integers would truncate. */
export const start = 1_767_225_600_123;

export const settings: PlanSettings = {
  rules: [
    { roleId: "1", when: { is: "all", of: [{ is: "proven" }, { is: "age", minDays: 30 }] }, nickname: null },
    {
      roleId: "2",
      when: { is: "group", groupId: "9", minRank: 100, maxRank: null },
      nickname: "🎮 {game.username}",
    },
  ],
  nickname: "{game.username} 🎮 {group.role}",
  nicknameGroupId: "9",
  bypassRoleIds: ["3", "4"],
  nicknameBypassRoleIds: ["5"],
  unlinked: "keep",
  state: "on",
};

export const paused: PlanSettings = { ...settings, state: "paused" };

export const noStatus: PlanStatus = { pending: 0, sweptAt: null, sweep: null, problems: [] };

export const newSweep = { after: null, done: 0, total: 0 };

export const uniqueGuildId = (): GuildId => GuildId.make(uniqueChatId());

export const problemOf = (chatId: ChatId | null, parts: Partial<PlanProblem> = {}): PlanProblem => ({
  chatId,
  roleId: "1",
  reason: "role_above_bot",
  at: start,
  ...parts,
});

export const listed = (
  problem: PlanProblem,
  chatIds: ReadonlyArray<ChatId> = problem.chatId === null ? [] : [problem.chatId],
): SharedProblem => ({ ...problem, count: chatIds.length, chatIds });

/** The result for a member whose roles are right. */
export const settled = (chatId: ChatId, parts: Partial<SettledMember> = {}): SettledMember => ({
  chatId,
  mark: null,
  retryAt: null,
  nickname: null,
  problems: [],
  ...parts,
});

/** The operations of `RolePlanStore` on one plan, with defaults. */
export const roleSteps = Effect.fnUntraced(function* (scope: DataScope, guildId = uniqueGuildId()) {
  const store = yield* RolePlanStore;
  const place = { pid: scope.pid, guildId };

  const put = (chosen: PlanSettings = settings, position = 0, at = start, by: WriteOrigin = origin) =>
    store.put({ ...by, ...place, settings: chosen, position, at });

  const pauseFor = (why: PauseReason, problems: ReadonlyArray<PlanProblem> = []) =>
    store.pause({ ...origin, ...place, at: start, why, problems });

  const edit = (edited: PlanSettings, chosen: PlanSettings) =>
    store.put({ ...origin, ...place, settings: chosen, edited, position: 0, at: start });

  const hold = (node: string, at = start, until = at + 7_000, limit = 1_000_000) =>
    Effect.map(
      store.hold({ node, at, until, limit }),
      (plans): HeldPlan | null => plans.find((plan) => plan.guildId === guildId) ?? null,
    );

  const find = Effect.map(store.find(place), Option.getOrNull);

  return {
    scope,
    guildId,
    place,
    store,
    put,
    edit,
    hold,
    find,
    status: store.status(place),
    pauseFor,
    pause: pauseFor("unmanaged"),
    remove: store.remove({ ...origin, ...place, at: start }),
    startSweep: (at = start) => store.startSweep(place, at),
    due: (at = start, limit = 100) => store.due(place, at, limit),
    nicknames: (...chatIds: ReadonlyArray<ChatId>) => store.nicknames(place, chatIds),
    settleOne: (member: SettledMember, at = start, changes?: RoleChanges) =>
      store.settleOne(place, member, at, changes),

    mark: (node: string, chatIds: ReadonlyArray<ChatId>, write: Partial<MarkMembers> = {}) =>
      store.mark({ ...place, node, at: start, position: 0, chatIds, erased: [], sweepOf: null, ...write }),

    settle: (node: string, members: ReadonlyArray<SettledMember>, write: Partial<SettleMembers> = {}) =>
      store.settle({ ...place, node, at: start, members, revision: 1, sweep: null, ...write }),

    /** Stores the plan and lets a new node hold it. */
    putHeld: Effect.fnUntraced(function* () {
      yield* put();
      const node = uniqueText();
      yield* hold(node);
      return node;
    }),
  };
});

export const newRoleSteps = Effect.flatMap(makeScopes, ({ global }) => roleSteps(global));
