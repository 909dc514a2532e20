/** A sweep that runs on this node: how it goes on, and how it stores what it finds. */
import { Clock, Effect } from "effect";
import { placeOf } from "../../communities/community.ts";
import { type CourierNode, isCarrying } from "../../couriers/couriers.ts";
import type { StoreEffect } from "../../errors.ts";
import { type PatientSteps, patientSteps } from "../patient_steps.ts";
import { addChanges, noChanges, type RoleChanges } from "../role_changes.ts";
import type { Sweep } from "../role_plan.ts";
import { type HeldPlan, RolePlanStore, type SettleMembers } from "../role_plan_store.ts";
import type { PlanCourier } from "./plan_courier.ts";

/** How often the progress is saved, in milliseconds. */
const saveInterval = 1_000;

export interface SweepRun {
  readonly plan: HeldPlan;
  /** Where the sweep begins: the progress that another node stored, or the first member. */
  readonly start: Sweep;
  readonly courier: PlanCourier;
  readonly isOver: Effect.Effect<boolean>;
  readonly steps: PatientSteps;
  readonly settle: (
    result: Partial<Pick<SettleMembers, "members" | "sweep" | "problems">>,
  ) => StoreEffect<void>;
  /** Counts changes of a member. They are stored with the next result or progress. */
  readonly tally: (changes: RoleChanges) => void;
  /** Saves the progress from time to time. */
  readonly save: (progress: Sweep) => StoreEffect<void>;
}

export const makeSweepRuns = Effect.gen(function* () {
  const store = yield* RolePlanStore;

  return Effect.fnUntraced(function* (node: CourierNode, courier: PlanCourier, start: Sweep) {
    const plan = courier.item;
    const { revision } = plan;
    let savedAt = yield* Clock.currentTimeMillis;
    let counted = noChanges;
    const tally = (changes: RoleChanges): void => {
      counted = addChanges(counted, changes);
    };

    const settle: SweepRun["settle"] = Effect.fnUntraced(function* ({
      members = [],
      sweep = null,
      problems = [],
    }) {
      const at = yield* Clock.currentTimeMillis;
      const changes = counted;
      counted = noChanges;
      const result = { ...placeOf(plan), node: node.id, at, revision, members, sweep, problems, changes };
      const isHeld = yield* Effect.tapError(store.settle(result), () => Effect.sync(() => tally(changes)));
      courier.isStopping ||= !isHeld;
      const { item } = courier;
      if (sweep === null || item.revision !== revision) return;
      // Update `courier.item` too, because the node rereads its plans from the store only a second later.
      const isEnded = sweep === "ended";
      courier.item = { ...item, sweep: isEnded ? null : sweep, sweptAt: isEnded ? at : item.sweptAt };
    });

    const save: SweepRun["save"] = Effect.fnUntraced(function* (progress) {
      const now = yield* Clock.currentTimeMillis;
      if (now < savedAt + saveInterval) return;
      yield* settle({ sweep: progress });
      savedAt = now;
    });

    /** Whether the courier must stop, or the plan has changed. */
    const isOver = Effect.map(
      Clock.currentTimeMillis,
      (now) => !isCarrying(node, courier, now) || courier.item.revision !== revision,
    );
    const steps = patientSteps("Cannot sweep the members of a guild", () => isOver);
    return { plan, start, courier, isOver, steps, settle, save, tally } satisfies SweepRun;
  });
});
