/** Carries over the plans of roles, members and problems of earlier releases. */
import {
  noSweep,
  type PlanRecord,
  problemRecord,
  roleMembers,
  rolePlans,
  roleProblems,
} from "@accountlink/core/roles";
import { communityRecord, communityRecords } from "@accountlink/core/storage";
import { Effect, Struct } from "effect";
import type { Database } from "../database.ts";
import { kvTable } from "../record_tables.ts";
import { txOf } from "../records.ts";
import { table } from "../table.ts";
import type { Transaction } from "../transaction.ts";
import type { EarlierPlan } from "./earlier_tables.ts";
import { moveEarlier } from "./move_earlier.ts";

const earlierPlans = table<EarlierPlan>()("plan", ({ pid, guildId }) => [pid, guildId], {});

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
  yield* moveEarlier(
    db,
    "plan_member",
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
  for (const name of ["plan_problem", "problems"] as const) {
    yield* moveEarlier(
      db,
      name,
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
  yield* moveEarlier(
    db,
    "plan",
    Effect.fnUntraced(function* (tx, plan) {
      yield* txOf(tx).put(rolePlans, planRecordOf(plan));
      const community = yield* txOf(tx).get(communityRecords, plan.pid, plan.guildId);
      // Puts a community that reminds into its index, which an earlier release did not have.
      if (community !== undefined) yield* tx.remove(kvTable(communityRecords), plan.pid, plan.guildId);
      yield* txOf(tx).put(communityRecords, community ?? communityOfPlan(plan));
    }),
  );
});
