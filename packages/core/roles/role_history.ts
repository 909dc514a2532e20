/** What the rules gave and took in a community: as a list, and to give back what they took since a time. */
import { Clock, Effect, Struct } from "effect";
import type { WriteOrigin } from "../audit/audit.ts";
import { placeOf, type ScopedGuild } from "../communities/mod.ts";
import type { Millis } from "../timestamp.ts";
import { makeGivenRoles } from "./given_roles.ts";
import { RoleHistoryStore, roleChangeTime } from "./role_history_store.ts";
import { settingNames } from "./role_plan.ts";
import { StoredPlans } from "./stored_plans.ts";

export const makeRoleHistory = Effect.gen(function* () {
  const history = yield* RoleHistoryStore;
  const plans = yield* StoredPlans;
  const { givableRoles } = yield* makeGivenRoles;

  /** Counts the roles that are still to be given back, or to be taken because no rule names them any more. */
  const countPending = Effect.fnUntraced(function* (guild: ScopedGuild, reversed: "took" | "gave" = "took") {
    const place = placeOf(guild);
    const running = (yield* history.reversals(place)).filter(({ change }) => change === reversed);
    const counts = yield* Effect.forEach(running, ({ at, ...change }) => history.count(place, change, at));
    return counts.reduce((sum, count) => sum + count, 0);
  });

  /** Pauses the plan, and reads it again if somebody saves it meanwhile. */
  const pausePlan = (guild: ScopedGuild, origin: WriteOrigin) =>
    Effect.flatMap(plans.findPlan(guild), (plan) => {
      if (plan.state !== "on") return Effect.void;
      const settings = { ...Struct.pick(plan, settingNames), state: "paused" } as const;
      return plans.write(plan, settings, origin, true);
    }).pipe(Effect.retry({ times: 3, while: (error) => error._tag === "Conflict" }));

  return {
    /** Returns changes of the last 30 days before a number, the newest first. */
    roleHistory: Effect.fnUntraced(function* (guild: ScopedGuild, before: number | null, limit: number) {
      const oldest = (yield* Clock.currentTimeMillis) - roleChangeTime;
      const page = yield* history.page(placeOf(guild), before, limit);
      return page.filter(({ at }) => at >= oldest);
    }),

    /** Counts the roles that the rules took since a time and nobody has given back, by role. */
    countTaken: (guild: ScopedGuild, since: Millis) => history.countByRole(placeOf(guild), "took", since),

    countPending,

    /**
     * Has the roles given back in the background that the rules took since a time, at most ten a second, over restarts, as
     * far as the bot and those who act may give them. Pauses the plan, since its rules would take them again. Returns how
     * many roles are to be given back.
     */
    putRolesBack: Effect.fn("RolePlans.putRolesBack")(function* (
      guild: ScopedGuild,
      since: Millis,
      origin: WriteOrigin,
    ) {
      const roleIds = yield* givableRoles(guild.guildId, origin);
      const place = placeOf(guild);
      const counts = yield* history.countByRole(place, "took", since);
      const taken = counts.filter(({ roleId }) => roleIds.includes(roleId));
      yield* pausePlan(guild, origin);
      if (taken.length > 0) {
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
      return yield* countPending(guild);
    }),
  };
});
