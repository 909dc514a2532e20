/** Carries over the plans of roles, members and problems of earlier releases. */

import type { ChatId } from "@accountlink/core";
import {
  noSweep,
  type PlanMember,
  type PlanPlace,
  type PlanProblem,
  type PlanRecord,
  type PlanSettings,
  problemRecord,
  type RoleRule,
  roleMembers,
  rolePlans,
  roleProblems,
  type Sweep,
} from "@accountlink/core/roles";
import { communityRecord, communityRecords } from "@accountlink/core/storage";
import { Effect, Struct } from "effect";
import type { Database } from "../database.ts";
import { kvTable } from "../record_tables.ts";
import { txOf } from "../records.ts";
import { moveAll } from "../steps.ts";
import type { Transaction } from "../transaction.ts";
import { earlierTable } from "./earlier_tables.ts";
import type { ScopeRef } from "./scopes.ts";

export interface EarlierPlan extends PlanPlace {
  readonly scope: ScopeRef;
  /** The number of the plan, which a later plan of the place did not get. */
  readonly ref: number;
  readonly settings: Omit<PlanSettings, "rules" | "bypassRoleIds" | "nicknameBypassRoleIds"> &
    Partial<Pick<PlanSettings, "bypassRoleIds" | "nicknameBypassRoleIds">> & {
      readonly rules: ReadonlyArray<Pick<RoleRule, "roleId" | "when"> & Partial<RoleRule>>;
      readonly bypassRoleId?: string | null;
      readonly logChannelId?: string | null;
    };
  readonly position: number;
  readonly revision: number;
  readonly sweptAt: number | null;
  readonly sweep: (Sweep & { readonly startedAt: number }) | null;
  readonly holder: string | null;
  readonly changedDays?: PlanRecord["changedDays"];
  readonly puttingBackSince?: number;
  /** Null while the plan is on, and if it was never on. */
  readonly pausedAt?: number | null;
}

export const earlierPlans = earlierTable<EarlierPlan>("plan", ({ pid, guildId }) => [pid, guildId]);

interface EarlierMember extends Pick<PlanMember, "pid" | "guildId" | "chatId" | "mark" | "nickname"> {
  readonly ref: number;
  readonly waits: { readonly since: number; readonly dueAt: number } | null;
  readonly replaced?: { readonly nickname: string | null; readonly at: number };
}

export const earlierMembers = earlierTable<EarlierMember>("plan_member", ({ ref, chatId }) => [ref, chatId]);

interface EarlierProblems extends PlanPlace {
  readonly ref: number;
  readonly chatId: ChatId | "";
  readonly problems: ReadonlyArray<PlanProblem>;
}

/** The problems of a member or of a plan, in the two tables that releases had. */
export const earlierProblems = ["plan_problem", "problems"].map((name) =>
  earlierTable<EarlierProblems>(name, ({ ref, chatId }) => [ref, chatId]),
);

/** The community of an earlier plan. Nobody knows who paused the plan. */
const communityOfPlan = (plan: EarlierPlan) => {
  const { sweep, sweptAt, pausedAt = null, settings } = plan;
  const isOn = settings.state === "on";
  const homeSince = isOn ? (sweep?.startedAt ?? sweptAt ?? 0) : pausedAt;
  const paused = isOn || pausedAt === null ? null : { at: pausedAt, why: null, by: null };
  return communityRecord(
    plan,
    { homeSince, paused, panels: [] },
    { logChannelId: settings.logChannelId ?? null },
  );
};

const noIds = { bypassRoleId: null, bypassRoleIds: null, nicknameBypassRoleIds: null };

const sweepOf = (sweep: EarlierPlan["sweep"]) =>
  sweep === null
    ? noSweep
    : {
        sweepAfter: sweep.after,
        sweepDone: sweep.done,
        sweepTotal: sweep.total,
        sweepStartedAt: sweep.startedAt,
      };

const planRecordOf = ({ pid, guildId, settings, sweep, ...plan }: EarlierPlan): PlanRecord => {
  const { logChannelId: _, ...known } = { ...noIds, ...settings };
  return {
    pid,
    guildId,
    ...known,
    rules: known.rules.map((rule) => ({ nickname: null, ...rule })),
    bypassRoleId: known.bypassRoleIds?.[0] ?? known.bypassRoleId,
    changedDays: null,
    puttingBackSince: null,
    ...Struct.omit(plan, ["ref", "scope", "pausedAt"]),
    ...sweepOf(sweep),
  };
};

/** Whether a later plan has taken the place of the plan of a record. */
const isRemoved = (tx: Transaction, { pid, guildId, ref }: Pick<EarlierPlan, "pid" | "guildId" | "ref">) =>
  Effect.map(tx.get(earlierPlans, pid, guildId), (plan) => plan !== undefined && plan.ref !== ref);

/** Moves plans, and their members and problems before them. Members of removed plans may still be there. */
export const carryOverPlans = Effect.fnUntraced(function* (db: Database) {
  yield* moveAll(
    db,
    earlierMembers,
    Effect.fnUntraced(function* (tx, stored) {
      if (yield* isRemoved(tx, stored)) return;
      const { ref: _, waits, replaced, ...member } = stored;
      yield* txOf(tx).put(roleMembers, {
        ...member,
        since: waits?.since ?? null,
        dueAt: waits?.dueAt ?? null,
        replacedNickname: replaced?.nickname ?? null,
        replacedAt: replaced?.at ?? null,
      });
    }),
  );
  for (const from of earlierProblems) {
    yield* moveAll(
      db,
      from,
      Effect.fnUntraced(function* (tx, stored) {
        if (yield* isRemoved(tx, stored)) return;
        yield* txOf(tx).putAll(
          roleProblems,
          stored.problems.map((problem) => problemRecord(stored, problem)),
        );
      }),
      // A member may have dozens of problems.
      1,
    );
  }
  yield* moveAll(
    db,
    earlierPlans,
    Effect.fnUntraced(function* (tx, plan) {
      yield* txOf(tx).put(rolePlans, planRecordOf(plan));
      const community = yield* txOf(tx).get(communityRecords, plan.pid, plan.guildId);
      // Puts a community that reminds into its index, which an earlier release did not have.
      if (community !== undefined) yield* tx.remove(kvTable(communityRecords), plan.pid, plan.guildId);
      yield* txOf(tx).put(communityRecords, community ?? communityOfPlan(plan));
    }),
  );
});
