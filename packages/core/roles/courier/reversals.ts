/** Gives back the roles that the rules took, and takes roles that the rules gave and name no more. */
import { Clock, Effect, Option } from "effect";
import { isLeftAlone } from "../member_changes.ts";
import { MemberSync } from "../member_sync.ts";
import { patientSteps } from "../patient_steps.ts";
import { recordedChanges } from "../recorded_changes.ts";
import { type KeptRoleChange, RoleHistoryStore, type RoleReversal } from "../role_history_store.ts";
import { type PlanPlace, RolePlanStore } from "../role_plan_store.ts";
import { changeInterval } from "./sweep_changes.ts";

/** After so many members the progress is stored. */
const pageSize = 20;

/** Whether a reversal goes on, waits until the plan is on again, or is over because the rules decide again. @internal */
export const reversalState = Effect.fnUntraced(function* (
  store: RolePlanStore["Service"],
  { roleId, change, ...place }: RoleReversal,
) {
  const plan = Option.getOrNull(yield* store.find(place));
  const isOn = plan?.state === "on";
  if (change === "took") return isOn ? "over" : "goes on";
  if (plan === null || plan.rules.some((rule) => rule.roleId === roleId)) return "over";
  return isOn ? "goes on" : "waits";
});

export const makeReverse = Effect.gen(function* () {
  const store = yield* RolePlanStore;
  const history = yield* RoleHistoryStore;
  const sync = yield* MemberSync;

  /** Reverses one change, unless the member has left, or the role was given or taken since. */
  const reverseOne = Effect.fnUntraced(function* (kept: KeptRoleChange) {
    const { pid, guildId, chatId, roleId, change } = kept;
    const { addRole, removeRole } = yield* sync.roles;
    const member = yield* sync.findMember(guildId, chatId);
    if (member === null || member.isPending === true) return;
    const gives = change === "took";
    if (member.roleIds.includes(roleId) === gives) return yield* history.close(kept);
    const plan = Option.getOrNull(yield* store.find({ pid, guildId }));
    if (!gives && plan !== null && isLeftAlone(plan, member)) return;
    yield* Effect.sleep(changeInterval);
    const made = { roleId, change: gives ? ("gave" as const) : ("took" as const) };
    yield* recordedChanges(
      history,
      {
        pid,
        guildId,
        chatId,
        changes: [made],
        because: gives ? "put_back" : "take",
        at: yield* Clock.currentTimeMillis,
      },
      (outcomes) => {
        outcomes.set(roleId, "unknown");
        const reversed = gives ? addRole(guildId, chatId, roleId) : removeRole(guildId, chatId, roleId);
        return reversed.pipe(
          Effect.map((isMade) => void outcomes.set(roleId, isMade)),
          // The role is gone, or above the bot by now.
          Effect.catchTag("RoleRefused", () => Effect.sync(() => void outcomes.set(roleId, false))),
        );
      },
    );
  });

  const reverseRole = Effect.fnUntraced(function* (start: RoleReversal) {
    const goesOn = Effect.map(reversalState(store, start), (state) => state === "goes on");
    const steps = patientSteps("Cannot put roles back", () =>
      Effect.orElseSucceed(
        Effect.map(goesOn, (does) => !does),
        () => false,
      ),
    );
    let reversal = start;
    while (true) {
      const page: ReadonlyArray<KeptRoleChange> = yield* steps.step(history.toReverse(reversal, pageSize));
      for (const kept of page) yield* steps.step(reverseOne(kept));
      const last = page.at(-1);
      if (last === undefined) break;
      const after = { ...reversal, at: last.at, number: last.number };
      // Begun again from an earlier time: the next look finds it.
      if (!(yield* steps.step(history.progress(reversal, after)))) return;
      reversal = after;
    }
    yield* steps.step(history.stop(reversal));
  });

  /** Carries out the reversals of a community, role by role. */
  return Effect.fnUntraced(function* (place: PlanPlace) {
    const all = yield* history.reversals(place);
    for (const reversal of all) {
      yield* Effect.ignore(reverseRole(reversal));
      if ((yield* reversalState(store, reversal)) !== "over") continue;
      const stored = (yield* history.reversals(place)).find(
        ({ roleId, change }) => roleId === reversal.roleId && change === reversal.change,
      );
      if (stored !== undefined) yield* history.stop(stored);
    }
  });
});
