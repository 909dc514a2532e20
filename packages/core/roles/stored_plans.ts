import { Clock, Context, Effect, Layer, Option, Schema, Struct } from "effect";
import type { WriteOrigin } from "../audit/audit.ts";
import {
  type Community,
  CommunityStore,
  communitySettingNames,
  foundOrNew,
  placeOf,
  type ScopedGuild,
} from "../communities/mod.ts";
import { makeAnnounceItems } from "../couriers/couriers.ts";
import { BadRequest, Conflict, InvalidParameter, parameterProblem } from "../errors.ts";
import { EventStore } from "../events/event_store.ts";
import type { Expected } from "../expected.ts";
import { requireOwnGuild } from "../platforms/guild_guard.ts";
import { formatTimestamp, timeOrNull } from "../timestamp.ts";
import {
  type ChosenSettings,
  changedSettings,
  lacksNicknameGroup,
  noPlan,
  PlanSettings,
  type PlanStatus,
  planSettings,
  planVersion,
  type RolePlan,
  settingNames,
  TakenRoles,
} from "./role_plan.ts";
import { RolePlanStore } from "./role_plan_store.ts";
import { rolesAskedIn } from "./rule_kinds.ts";

export interface PlanDetails {
  readonly plan: RolePlan;
  readonly community: Community;
  readonly status: PlanStatus;
}

const settingsBesideState = settingNames.filter((name) => name !== "state");

/** Converts a plan and its progress to JSON, for the dashboard and the command line. @internal */
export const planJson = ({
  plan,
  community,
  status: { pending, sweptAt, sweep, problems },
}: PlanDetails) => ({
  ...placeOf(plan),
  ...Struct.pick(plan, settingsBesideState),
  ...Struct.pick(community, communitySettingNames),
  status: {
    state: plan.state,
    pending,
    sweptAt: timeOrNull(sweptAt),
    sweep: sweep && { done: sweep.done, total: sweep.total },
    problems: problems.map(({ at, ...problem }) => ({ ...problem, at: formatTimestamp(at) })),
  },
});

/**
 * Manages role plans without asking the platform. A guild without a stored plan has a paused plan without rules.
 * @internal
 */
export class StoredPlans extends Context.Service<StoredPlans>()("@accountlink/core/StoredPlans", {
  make: Effect.gen(function* () {
    const store = yield* RolePlanStore;
    const communities = yield* CommunityStore;
    const events = yield* EventStore;
    const announceChange = yield* makeAnnounceItems("role_plans");
    const announceLog = yield* makeAnnounceItems("guild_logs");

    const findPlan = Effect.fn("StoredPlans.findPlan")(function* (guild: ScopedGuild) {
      const { scope, guildId } = guild;
      const stored = yield* store.find(placeOf(guild));
      return Option.getOrElse(stored, (): RolePlan => ({ ...noPlan, scope, guildId }));
    });

    const find = Effect.fn("StoredPlans.find")(function* (guild: ScopedGuild) {
      const place = placeOf(guild);
      const plan = yield* findPlan(guild);
      const community = foundOrNew(yield* communities.find(place), guild);
      return { plan, community, status: yield* store.status(place) } satisfies PlanDetails;
    });

    /**
     * Stores settings that were checked in place of the plan that was read. Fails as `put` does.
     *
     * @param isEdited whether the plan may be replaced only as it was read
     * @param take the roles to take from members who have them by the rules, which name them no more, in place of those
     * that earlier changes of the plan take; undefined leaves these, and so does an empty list if no setting changes
     * @param previewed the ID of the preview whose page the settings come from
     */
    const write = Effect.fn("StoredPlans.write")(function* (
      plan: RolePlan,
      settings: PlanSettings,
      origin: WriteOrigin,
      isEdited: boolean,
      take?: ReadonlyArray<string>,
      previewed?: string,
    ) {
      const { end } = yield* events.range(plan.scope.pid);
      const at = yield* Clock.currentTimeMillis;
      const put = { ...origin, ...placeOf(plan), at, settings, position: end };
      const chosen = {
        ...(isEdited && { edited: plan }),
        ...(take !== undefined && { take }),
        ...(previewed !== undefined && { previewed }),
      };
      const refused = yield* store.put({ ...put, ...chosen });
      if (refused !== null) return yield* new Conflict({ reason: refused });
      yield* announceChange;
    });

    return {
      find,

      /** Returns the plan without its progress. */
      findPlan,

      write,

      /**
       * Stores a plan. If the plan changed and is on, all members are compared. Fails with `Conflict` `guild_has_plan` if
       * another plan of the guild is on, and `plan_changed` if the stored plan is not the edited one.
       *
       * @param edited the `planVersion` of the plan that was edited; without it, the stored plan is replaced
       */
      put: Effect.fn("StoredPlans.put")(function* (
        guild: ScopedGuild,
        chosen: ChosenSettings,
        origin: WriteOrigin,
        edited?: string,
      ) {
        const plan = yield* findPlan(guild);
        const settings = yield* checkSettings(guild, chosen);
        yield* requireVersion(plan, edited, settings);
        yield* write(plan, settings, origin, edited !== undefined, chosen.take);
        return yield* find(guild);
      }),

      /** Deletes a plan; members keep their roles. Returns false if there is no plan. */
      remove: Effect.fn("StoredPlans.remove")(function* (guild: ScopedGuild, origin: WriteOrigin) {
        const at = yield* Clock.currentTimeMillis;
        const isRemoved = yield* store.remove({ ...origin, ...placeOf(guild), at });
        yield* announceChange;
        yield* announceLog;
        return isRemoved;
      }),

      /** Starts a comparison of all members. Fails with `not_found` unless the plan is on. */
      startSweep: Effect.fn("StoredPlans.startSweep")(function* (guild: ScopedGuild) {
        const at = yield* Clock.currentTimeMillis;
        if (!(yield* store.startSweep(placeOf(guild), at))) {
          return yield* new BadRequest({ problem: "not_found" });
        }
        yield* announceChange;
        return yield* find(guild);
      }),
    };
  }),
}) {
  static readonly layer = Layer.effect(StoredPlans, StoredPlans.make);
}

/**
 * Fails unless the plan is the edited one, or the wanted one, which an earlier try may have stored, or if it does not
 * matter which plan is stored. @internal
 */
export const requireVersion = (plan: PlanSettings, edited: string | undefined, wanted: PlanSettings) =>
  edited === undefined || edited === planVersion(plan) || changedSettings(plan, wanted).length === 0
    ? Effect.void
    : Effect.fail(new Conflict({ reason: "plan_changed" }));

/** @internal */
export const expectedTaken: Expected = {
  is: "choice",
  text: "expected a list of IDs of roles that no rule names",
};

const decodeField = (name: keyof PlanSettings) =>
  Schema.decodeUnknownOption<Schema.Decoder<unknown>>(PlanSettings.fields[name]);

/**
 * Returns the settings with all fields, in a fixed order. Fails for invalid settings, because untyped callers may pass
 * anything. @internal
 */
export const checkSettings = Effect.fnUntraced(function* (
  { scope, guildId }: ScopedGuild,
  chosen: ChosenSettings,
) {
  yield* requireOwnGuild(scope, guildId);
  const problems = settingNames
    .filter((name) => Option.isNone(decodeField(name)(chosen[name])))
    .map((name) => parameterProblem(name, planSettings[name].expected));
  const settings = Schema.decodeUnknownOption(PlanSettings)(chosen);
  const { rules } = Option.getOrElse(settings, () => noPlan);
  const given = new Set(rules.map(({ roleId }) => roleId));
  const role = rules.flatMap(({ when }) => rolesAskedIn(when)).find((asked) => given.has(asked));
  if (role !== undefined) problems.push(parameterProblem("rules", { is: "other_role", role }));
  const named = chosen.take?.some((roleId) => given.has(roleId)) === true;
  if (named || !Schema.is(TakenRoles)(chosen.take ?? []))
    problems.push(parameterProblem("take", expectedTaken));
  if (lacksNicknameGroup(Option.getOrElse(settings, () => noPlan))) {
    problems.push(parameterProblem("nicknameGroupId", { is: "rank_group" }));
  }
  if (Option.isNone(settings) || problems.length > 0) {
    return yield* new InvalidParameter({ parameters: problems });
  }
  return settings.value;
});
