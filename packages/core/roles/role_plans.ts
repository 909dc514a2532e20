import { Context, Effect, Layer, Option, Schema } from "effect";
import type { Actor, WriteOrigin } from "../audit/audit.ts";
import { Communities, chosenIn, placeOf, type ScopedGuild } from "../communities/mod.ts";
import { BadRequest, Forbidden, InvalidParameter, PlatformUnavailable } from "../errors.ts";
import { type ChatId, Digits, type GuildId } from "../ids.ts";
import { RequestLimits } from "../limits/request_limits.ts";
import { GamePlatform, GuildGuard, knownFeatures } from "../platforms/mod.ts";
import { makeGivenRoles } from "./given_roles.ts";
import { makeGuildCheck } from "./guild_check.ts";
import { MemberSync } from "./member_sync.ts";
import { requireFeatures, requireRolesOf } from "./plan_checks.ts";
import { makePlanPreviews } from "./plan_previews.ts";
import type { PreviewedRole } from "./preview_store.ts";
import { makeNicknamesBefore } from "./replaced_nicknames.ts";
import { makeRoleHistory } from "./role_history.ts";
import { type ChosenSettings, changedSettings, type PlanSettings, type RolePlan } from "./role_plan.ts";
import { RolePlanStore } from "./role_plan_store.ts";
import { checkSettings, requireVersion, StoredPlans } from "./stored_plans.ts";

/** Manages the role plans of guilds, and applies them to single members. @internal */
export class RolePlans extends Context.Service<RolePlans>()("@accountlink/core/RolePlans", {
  make: Effect.gen(function* () {
    const store = yield* RolePlanStore;
    const stored = yield* StoredPlans;
    const communities = yield* Communities;
    const guard = yield* GuildGuard;
    const members = yield* MemberSync;
    const { guildRoles, requireNameable, givableRoles } = yield* makeGivenRoles;
    const previews = yield* makePlanPreviews;
    const nicknames = yield* makeNicknamesBefore;
    const history = yield* makeRoleHistory;
    const { checkGuild, pause } = yield* makeGuildCheck;
    const game = yield* GamePlatform;
    const { findGroup } = game;
    const { admitSweep } = yield* RequestLimits;
    const notFound = new BadRequest({ problem: "not_found" });

    /** Fails unless the platforms have all that the settings name. */
    const requireNamed = Effect.fnUntraced(function* ({ guildId }: ScopedGuild, settings: PlanSettings) {
      yield* requireFeatures(game, settings);
      yield* requireRolesOf(guildId, guildRoles(guildId), settings);
    });

    /**
     * Pauses another plan that is on for the guild, if the bot or every manager of that plan has left. Returns whether
     * another plan stays on.
     */
    const pauseUnmanagedRival = Effect.fnUntraced(function* ({ scope, guildId }: ScopedGuild) {
      const rival = Option.getOrNull(yield* store.findOn(guildId));
      return rival !== null && rival.scope.pid !== scope.pid && (yield* checkGuild(rival)) !== null;
    });

    return {
      ...stored,
      ...nicknames,
      ...history,
      givableRoles,

      /** Returns the roles of a guild, highest first. */
      guildRoles,

      /** Returns a group of the game platform with its ranks. Fails with `InvalidParameter` for an unknown group. */
      group: Effect.fn("RolePlans.group")(function* (groupId: string) {
        if (findGroup === undefined) {
          return yield* new PlatformUnavailable({ operation: "GamePlatform.findGroup" });
        }
        if (!(yield* knownFeatures(game)).groups)
          return yield* InvalidParameter.one("groupId", { is: "groups" });
        const found = Schema.is(Digits)(groupId) ? yield* findGroup(groupId) : Option.none();
        if (Option.isSome(found)) return found.value;
        return yield* InvalidParameter.one("groupId", { is: "known_group", group: groupId });
      }),

      /**
       * Stores a plan. If the plan changed and is on, all members are compared, at most 60 times an hour. Another plan
       * that is on for the guild is paused if nobody of its account's team manages the guild any more; otherwise this
       * fails with `Conflict` `guild_has_plan`. Fails with `InvalidParameter` for a role that the guild does not have,
       * or that the member who saves the plan may not give, unless the change only pauses the rules. Settings of the
       * community are stored after the plan.
       *
       * @param edited the `planVersion` of the plan that was edited; if the stored one is another, fails with `Conflict`
       * `plan_changed`
       * @param previewed the ID of the preview whose page, which shows the losses of both choices of `unlinked`, the
       * settings come from
       */
      put: Effect.fn("RolePlans.put")(function* (
        guild: ScopedGuild,
        chosen: ChosenSettings,
        origin: WriteOrigin,
        edited?: string,
        previewed?: string,
      ) {
        const plan = yield* stored.findPlan(guild);
        const settings = yield* checkSettings(guild, chosen);
        yield* requireVersion(plan, edited, settings);
        const { take = [] } = chosen;
        const others = changedSettings({ ...plan, state: "paused" }, settings);
        // Whoever may no longer save the rules can still pause them.
        if (others.length + take.length > 0) {
          yield* requireNamed(guild, settings);
          yield* requireNameable(guild.guildId, { ...settings, take }, origin);
        }
        const ofCommunity = chosenIn(chosen);
        yield* communities.check(guild, ofCommunity);
        if (settings.state === "on") {
          const hasRival = yield* pauseUnmanagedRival(guild);
          const isSwept = !hasRival && changedSettings(plan, settings).length > 0;
          if (isSwept) yield* admitSweep(placeOf(guild), "changed");
        }
        yield* stored.write(plan, settings, origin, edited !== undefined, chosen.take, previewed);
        if (Object.keys(ofCommunity).length > 0) yield* communities.put(guild, ofCommunity, origin);
        return yield* stored.find(guild);
      }),

      /** Pauses a plan if its rules name a role that those who saved it may not give. */
      pauseUnlessNameable: (plan: RolePlan, actor: Actor) => {
        const paused = () => pause(plan, "role_rights");
        return Effect.catchTags(requireNameable(plan.guildId, plan, { actor }), {
          InvalidParameter: paused,
          Forbidden: paused,
        });
      },

      /** Starts a comparison of all members, at most 4 an hour. Fails with `not_found` unless the plan is on. */
      startSweep: Effect.fn("RolePlans.startSweep")(function* (guild: ScopedGuild) {
        const place = placeOf(guild);
        const plan = Option.getOrNull(yield* store.find(place));
        if (plan?.state === "on") yield* admitSweep(place, "asked");
        return yield* stored.startSweep(guild);
      }),

      /**
       * Makes roles without rights in a guild. Fails with `InvalidParameter` on `ranksOf` if the platform refuses one;
       * those before it are made.
       */
      makeRoles: Effect.fn("RolePlans.makeRoles")(
        function* (guildId: GuildId, names: ReadonlyArray<string>) {
          const { makeRole } = yield* members.roles;
          if (makeRole === undefined) {
            return yield* new PlatformUnavailable({ operation: "ChatRoles.makeRole" });
          }
          for (const name of names) {
            const made = yield* makeRole(guildId, name);
            if (Option.isNone(made)) return yield* new Forbidden({ reason: "bot_not_in_guild" });
          }
        },
        Effect.catchTag("RoleRefused", ({ reason }) =>
          InvalidParameter.one("ranksOf", {
            is: reason === "no_permission" ? "role_permission" : "further_roles",
          }),
        ),
      ),

      /** Returns what the plan would change for a member, with other settings if they are given. */
      preview: Effect.fn("RolePlans.preview")(function* (
        guild: ScopedGuild,
        chatId: ChatId,
        settings?: PlanSettings,
      ) {
        const plan = yield* stored.findPlan(guild);
        return yield* members.preview({ ...plan, ...settings }, chatId);
      }),

      /**
       * Starts a preview for all members, which changes nothing, and replaces an earlier one. Fails with
       * `InvalidParameter` for a role that the guild does not have.
       *
       * @param chosen the settings to preview; settings that are left out are the stored ones
       * @param edited as of `put`
       */
      previewAll: Effect.fn("RolePlans.previewAll")(function* (
        guild: ScopedGuild,
        chosen: Partial<ChosenSettings>,
        edited?: string,
      ) {
        const plan = yield* stored.findPlan(guild);
        const settings = yield* checkSettings(guild, { ...plan, ...chosen });
        yield* requireVersion(plan, edited, settings);
        yield* requireNamed(guild, settings);
        return yield* previews.start({ ...plan, ...settings });
      }),

      /** Returns the last preview for all members, on whichever node it runs; null without one. */
      findPreview: (guild: ScopedGuild) => previews.find(placeOf(guild)),

      /** Returns members who gain or lose a role by a preview, after a chat ID. */
      previewMembers: (guild: ScopedGuild, role: PreviewedRole, after: ChatId | null, limit: number) =>
        previews.members(placeOf(guild), role, after, limit),

      /** Compares a member with the plan and changes the member at once. Fails with `not_found` unless the plan is on. */
      sync: Effect.fn("RolePlans.sync")(function* (guild: ScopedGuild, chatId: ChatId) {
        yield* guard.enter(guild.scope, guild.guildId);
        const plan = Option.getOrNull(yield* store.find(placeOf(guild)));
        if (plan?.state === "on") return yield* members.sync(plan, chatId);
        yield* guard.requireMember(guild.guildId, chatId);
        return yield* notFound;
      }),
    };
  }),
}) {
  static readonly layer = Layer.effect(RolePlans, RolePlans.make);
}
