/** The checks that pause a plan. */
import { Clock, Effect, Option } from "effect";
import { hasAccepted, MemberStore } from "../accounts/member_store.ts";
import { originOfOperator } from "../audit/audit.ts";
import { type PauseReason, placeOf, type ScopedGuild } from "../communities/community.ts";
import { KeyStore } from "../keys/key_store.ts";
import { ChatPlatform } from "../platforms/chat_platform.ts";
import { MemberSync } from "./member_sync.ts";
import { areLossesShown, arePreviewedAs, shownRoles, wouldManyLose } from "./plan_preview.ts";
import { PreviewStore, previewTime } from "./preview_store.ts";
import type { PreviewTally } from "./preview_tally.ts";
import { type PlanProblem, planProblem, type RolePlan } from "./role_plan.ts";
import { RolePlanStore } from "./role_plan_store.ts";

/** The actor in the audit log when the service itself pauses a plan. */
const service = originOfOperator("roles");

/** @internal */
export const makeGuildCheck = Effect.gen(function* () {
  const store = yield* RolePlanStore;
  const previews = yield* PreviewStore;
  const accounts = yield* KeyStore;
  const team = yield* MemberStore;
  const { roles } = yield* MemberSync;
  const { isManager } = yield* ChatPlatform;

  // `findGuildRoles` is used, because its answer is never cached. `findGuild` may return an old answer.
  const findGuild = ({ guildId }: ScopedGuild) =>
    Effect.flatMap(roles, ({ findGuildRoles }) => Effect.map(findGuildRoles(guildId), Option.getOrNull));

  const pause = Effect.fnUntraced(function* (
    guild: ScopedGuild,
    why: PauseReason,
    problems: ReadonlyArray<PlanProblem> = [],
  ) {
    const at = yield* Clock.currentTimeMillis;
    yield* store.pause({ ...service, ...placeOf(guild), at, why, problems });
  });

  /** Returns the roles of which a preview said that many lose them, if the plan was turned on after it within a day. */
  const confirmedRoles = Effect.fnUntraced(function* (plan: RolePlan) {
    const { confirmed = null } = Option.getOrUndefined(yield* previews.find(placeOf(plan))) ?? {};
    if (confirmed === null || (yield* Clock.currentTimeMillis) >= confirmed.at + previewTime) return [];
    const { settings } = confirmed;
    if (!arePreviewedAs(settings, plan) || !areLossesShown(settings, plan)) return [];
    return shownRoles(confirmed.roles, plan.unlinked)
      .filter(wouldManyLose)
      .map(({ roleId }) => roleId);
  });

  const isManaged = Effect.fnUntraced(function* ({ guildId, scope }: ScopedGuild) {
    const account = yield* accounts.findAccount(scope.account);
    if (Option.exists(account, ({ operator }) => operator)) return true;
    const members = (yield* team.list(scope.account)).filter(hasAccepted);
    return (yield* Effect.forEach(members, ({ chatId }) => isManager(guildId, chatId))).includes(true);
  });

  return {
    pause,

    /** Returns whether somebody who has accepted to be in the account's team manages the guild of a plan. */
    isManaged,

    /**
     * Pauses the plan if a sweep would take a role from too many members, and no confirmed preview has said so. Returns
     * whether it paused the plan.
     */
    pauseBeforeLosses: Effect.fnUntraced(function* (plan: RolePlan, tally: PreviewTally) {
      const lost = tally.counts.roles
        .map(({ roleId, held, lost: { linked, unlinked } }) => ({ roleId, held, lost: linked + unlinked }))
        .filter(wouldManyLose);
      if (lost.length === 0) return false;
      const confirmed = new Set(yield* confirmedRoles(plan));
      const at = yield* Clock.currentTimeMillis;
      const problems = lost
        .filter(({ roleId }) => !confirmed.has(roleId))
        .map(({ roleId }) => planProblem("many_would_lose", at, roleId));
      if (problems.length === 0) return false;
      yield* pause(plan, "many_would_lose", problems);
      return true;
    }),

    /**
     * Pauses the plan if the bot has left the guild, because then every user seems to be missing. Returns whether the
     * bot has left.
     */
    pauseWithoutBot: Effect.fnUntraced(function* (plan: RolePlan) {
      if ((yield* findGuild(plan)) !== null) return false;
      yield* pause(plan, "bot_removed");
      return true;
    }),

    /**
     * Returns how many members the guild has. Pauses the plan and returns null if the bot has left the guild, or if
     * nobody who has accepted to be in the account's team manages the guild any more. Nobody needs to manage the guilds
     * of the operator's own accounts.
     */
    checkGuild: Effect.fnUntraced(function* (plan: ScopedGuild) {
      const guild = yield* findGuild(plan);
      if (guild !== null && (yield* isManaged(plan))) return guild.memberCount;
      yield* pause(plan, guild === null ? "bot_removed" : "unmanaged");
      return null;
    }),
  };
});
