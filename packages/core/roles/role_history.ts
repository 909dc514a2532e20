/** What the rules gave and took in a community: as a list, and to give back what they took since a time. */
import { Clock, Effect, Struct } from "effect";
import type { WriteOrigin } from "../audit/audit.ts";
import type { DataScope } from "../data_scope.ts";
import type { GuildId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import { RoleHistoryStore, roleChangeTime } from "./role_history_store.ts";
import { type PlanSettings, settingNames } from "./role_plan.ts";
import { StoredPlans } from "./stored_plans.ts";

export const makeRoleHistory = Effect.gen(function* () {
  const history = yield* RoleHistoryStore;
  const plans = yield* StoredPlans;

  /** Counts the roles that are still to be given back. */
  const countPending = Effect.fnUntraced(function* ({ pid }: DataScope, guildId: GuildId) {
    const place = { pid, guildId };
    const running = (yield* history.reversals(place)).filter(({ change }) => change === "took");
    const counts = yield* Effect.forEach(running, ({ at, ...change }) => history.count(place, change, at));
    return counts.reduce((sum, count) => sum + count, 0);
  });

  return {
    /** Returns changes of the last 30 days before a number, the newest first. */
    roleHistory: Effect.fnUntraced(function* (
      { pid }: DataScope,
      guildId: GuildId,
      before: number | null,
      limit: number,
    ) {
      const oldest = (yield* Clock.currentTimeMillis) - roleChangeTime;
      const page = yield* history.page({ pid, guildId }, before, limit);
      return page.filter(({ at }) => at >= oldest);
    }),

    /** Counts the roles that the rules took since a time and nobody has given back, by role. */
    countTaken: ({ pid }: DataScope, guildId: GuildId, since: Millis) =>
      history.countByRole({ pid, guildId }, "took", since),

    /** Counts the members who have a role by the rules, of each role that these rules do not name. */
    countUnnamed: ({ pid }: DataScope, guildId: GuildId, { rules }: Pick<PlanSettings, "rules">) =>
      Effect.map(history.countByRole({ pid, guildId }, "gave", 0), (counts) =>
        counts.filter(({ roleId }) => !rules.some((rule) => rule.roleId === roleId)),
      ),

    countPending,

    /**
     * Has the roles given back in the background that the rules took since a time, at most ten a second, over restarts.
     * Pauses the plan, since its rules would take them again. Returns how many roles are to be given back.
     */
    putRolesBack: Effect.fn("RolePlans.putRolesBack")(function* (
      scope: DataScope,
      guildId: GuildId,
      roleIds: ReadonlyArray<string>,
      since: Millis,
      origin: WriteOrigin,
    ) {
      const place = { pid: scope.pid, guildId };
      const counts = yield* history.countByRole(place, "took", since);
      const taken = counts.filter(({ roleId }) => roleIds.includes(roleId));
      if (taken.length > 0) {
        const { plan } = yield* plans.find(scope, guildId);
        if (plan.state === "on") {
          const settings = Struct.pick(plan, settingNames);
          yield* plans.write(plan, { ...settings, state: "paused" }, origin, false);
        }
        yield* history.reverse({
          ...origin,
          ...place,
          change: "took",
          roleIds: taken.map(({ roleId }) => roleId),
          since,
          count: taken.reduce((sum, { count }) => sum + count, 0),
          at: yield* Clock.currentTimeMillis,
        });
      }
      return yield* countPending(scope, guildId);
    }),
  };
});
