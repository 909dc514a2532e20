/**
 * A sweep compares every member of a guild with the plan, and then changes those who differ. If too many would lose a
 * role, it changes nobody and pauses the plan. Another node continues with the changes where one stopped; a comparison
 * that was interrupted begins again.
 */
import { Clock, Effect } from "effect";
import { placeOf } from "../../communities/community.ts";
import { type CourierNode, dueUntil } from "../../couriers/couriers.ts";
import { Urgency } from "../../platforms/platform_refusals.ts";
import { dayMs, type Millis } from "../../timestamp.ts";
import { makeRolesWithoutGroup } from "../group_roles.ts";
import { makeGuildCheck } from "../guild_check.ts";
import { closedProblems } from "../member_changes.ts";
import { WorkOver } from "../patient_steps.ts";
import { planProblem } from "../role_plan.ts";
import { RolePlanStore } from "../role_plan_store.ts";
import type { PlanCourier } from "./plan_courier.ts";
import { makeChangeMembers } from "./sweep_changes.ts";
import { makeFindMembers, type SweepFindings } from "./sweep_findings.ts";
import { makeSweepRuns, type SweepRun } from "./sweep_run.ts";

/** How long a node may take to notice that a sweep has started, ended or is of another plan, in milliseconds. */
export const rereadTime = 2_000;

/** Whether a sweep of the plan should start or continue now. */
export const isSweepDue = ({ item, sweeping }: PlanCourier, at: Millis): boolean =>
  !sweeping.isRunning &&
  sweeping.nextAt <= dueUntil(sweeping.nextAt, at, rereadTime) &&
  (item.sweep !== null || isDaily(item.sweptAt, at));

const isDaily = (sweptAt: Millis | null, at: Millis) => sweptAt !== null && Math.abs(at - sweptAt) >= dayMs;

export const makeSweep = Effect.gen(function* () {
  const store = yield* RolePlanStore;
  const beginRun = yield* makeSweepRuns;
  const findMembers = yield* makeFindMembers;
  const changeMembers = yield* makeChangeMembers;
  const rolesWithoutGroup = yield* makeRolesWithoutGroup;
  const { checkGuild, pauseWithoutBot, pauseBeforeLosses } = yield* makeGuildCheck;

  const sweepAll = Effect.fnUntraced(function* (run: SweepRun) {
    const { plan, start, steps } = run;
    const memberCount = yield* steps.step(checkGuild(plan));
    if (memberCount === null) return;
    const findings = yield* findMembers(run, memberCount);
    // Another node has checked that before it began to change members.
    const isNew = start.after === null;
    if (isNew && (yield* steps.step(pauseBeforeLosses(plan, findings.tally)))) return;
    if (findings.differing.size > 0) yield* changeMembers(run, findings);
    yield* steps.step(end(run, findings));
  });

  /** Stores the problems of the plan, and which sources are closed. */
  const end = Effect.fnUntraced(function* (
    run: SweepRun,
    { sources, unanswered, withoutItem }: SweepFindings,
  ) {
    const { plan, courier } = run;
    const { closed } = sources;
    courier.closed.close(closed);
    // The first of these members goes on asking. The others are done, though they would wait longer for their turn.
    for (const chatId of closed.length > 0 ? unanswered : [])
      yield* store.markMember(plan.guildId, chatId, yield* Clock.currentTimeMillis);
    const unknown = new Set([...withoutItem, ...(yield* rolesWithoutGroup(plan))]);
    const at = yield* Clock.currentTimeMillis;
    const missing = Array.from(unknown, (roleId) => planProblem("item_unknown", at, roleId));
    const problems = [...missing, ...closedProblems(plan, new Set(closed), at)];
    yield* run.settle({ sweep: "ended", problems });
  });

  /** The platform does not list the members, or the bot has left the guild. */
  const endHidden = (run: SweepRun) =>
    run.steps.step(
      Effect.gen(function* () {
        if (yield* pauseWithoutBot(run.plan)) return;
        const at = yield* Clock.currentTimeMillis;
        yield* run.settle({ sweep: "ended", problems: [planProblem("members_hidden", at)] });
      }),
    );

  /** Starts or continues the sweep of a plan, and ends when it is over. */
  return Effect.fnUntraced(function* (node: CourierNode, courier: PlanCourier) {
    const { sweep } = courier.item;
    if (sweep === null) {
      yield* store.startSweep(placeOf(courier.item), yield* Clock.currentTimeMillis);
      return;
    }
    const run = yield* beginRun(node, courier, sweep);
    yield* sweepAll(run).pipe(
      Effect.catchTag("MembersHidden", () => endHidden(run)),
      Effect.catchIf(
        (error) => error instanceof WorkOver,
        () => Effect.void,
      ),
      Effect.provideService(Urgency, "background"),
    );
  });
});
