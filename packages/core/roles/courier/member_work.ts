/** The work of couriers and sweeps on a single member, and the checks that pause a plan. */
import { Clock, Effect, Metric, Option } from "effect";
import { allows, hasAccepted } from "../../accounts/member.ts";
import { MemberStore } from "../../accounts/member_store.ts";
import { originOfOperator } from "../../audit/audit.ts";
import type { ChatId, GameId } from "../../ids.ts";
import { ChatPlatform } from "../../platforms/chat_platform.ts";
import type { RoleMember } from "../../platforms/chat_roles.ts";
import type { Millis } from "../../timestamp.ts";
import { MemberSync } from "../member_sync.ts";
import type { RolePlan } from "../role_plan.ts";
import { RolePlanStore, type SettledMember } from "../role_plan_store.ts";

const changes = Metric.counter("accountlink_role_changes_total", {
  description: "Changes of roles and nicknames, by outcome",
  incremental: true,
});

/** The actor in the audit log when the service itself pauses a plan. */
const service = originOfOperator("roles");

/**
 * Returns how long to wait before the next attempt, in milliseconds: a tenth of the time waited so far, but at least 5
 * seconds and at most 10 minutes.
 */
export const retryDelay = (waited: Millis): Millis => Math.min(600_000, Math.max(5_000, waited / 10));

/** The link of a member, and the nickname that the plan set. */
export interface StoredMember {
  readonly gameId: GameId | null;
  readonly nickname: string | null;
}

export const makeMemberWork = Effect.gen(function* () {
  const store = yield* RolePlanStore;
  const team = yield* MemberStore;
  const sync = yield* MemberSync;
  const { isManager } = yield* ChatPlatform;

  // Add 0, so that the counters are exported even before the first change.
  for (const outcome of outcomes) yield* count(outcome, 0);

  const pause = Effect.fnUntraced(function* ({ scope, guildId }: RolePlan) {
    yield* store.pause({ ...service, pid: scope.pid, guildId, at: yield* Clock.currentTimeMillis });
  });

  return {
    /**
     * Whether a sync would change the member's roles, the member's nickname, or the nickname that is stored for them.
     */
    differs: (plan: RolePlan, member: RoleMember, { gameId, nickname: stored }: StoredMember) =>
      Effect.map(
        sync.compare(plan, member, gameId, stored),
        ({ add, remove, nickname, setNickname: { before, after } }) =>
          add.length + remove.length > 0 || nickname !== null || before !== after,
      ),

    /**
     * Gives a member the roles and the nickname that the plan wants. Returns null if the user is not a member.
     *
     * @param pace runs before each change
     */
    change: Effect.fnUntraced(
      function* (
        plan: RolePlan,
        chatId: ChatId,
        { gameId, nickname }: StoredMember,
        pace?: Effect.Effect<void>,
      ) {
        const member = Option.getOrNull(yield* (yield* sync.roles).findMember(plan.guildId, chatId));
        if (member === null) return null;
        const wanted = yield* sync.compare(plan, member, gameId, nickname);
        const { added, removed, nickname: renamed, settled } = yield* sync.apply(plan, wanted, pace);
        yield* count("refused", settled.problems.length);
        yield* count("applied", added.length + removed.length + (renamed === null ? 0 : 1));
        return settled;
      },
      Effect.tapErrorTag("PlatformUnavailable", () => count("unavailable", 1)),
    ),

    /**
     * Pauses the plan if the bot has left the guild, because then every user seems to be missing. Returns whether the
     * bot has left.
     */
    pauseWithoutBot: Effect.fnUntraced(function* (plan: RolePlan) {
      // `findGuildRoles` is used, because its answer is never cached. `findGuild` may return an old answer.
      const { findGuildRoles } = yield* sync.roles;
      if (Option.isSome(yield* findGuildRoles(plan.guildId))) return false;
      yield* pause(plan);
      return true;
    }),

    /**
     * Returns how many members the guild has. Pauses the plan and returns null if the bot has left the guild, or if
     * nobody who has accepted to be in the account's team manages the guild any more. An account without owners and
     * admins belongs to the operator, so nobody needs to manage the guild.
     */
    checkGuild: Effect.fnUntraced(function* (plan: RolePlan) {
      const { guildId, scope } = plan;
      const guild = Option.getOrNull(yield* (yield* sync.roles).findGuildRoles(guildId));
      const members = (yield* team.list(scope.account)).filter(hasAccepted);
      const isOperators = !members.some(({ role }) => allows(role, "admin"));
      const manages = Effect.forEach(members, ({ chatId }) => isManager(guildId, chatId));
      const isManaged = isOperators || (yield* manages).includes(true);
      if (guild !== null && isManaged) return guild.memberCount;
      yield* pause(plan);
      return null;
    }),
  };
});

const outcomes = ["applied", "refused", "unavailable"] as const;

const count = (outcome: (typeof outcomes)[number], times: number) =>
  Metric.update(Metric.withAttributes(changes, { outcome }), times);

/** Returns the result to store for a user who has left the guild: without a nickname, problems or a retry. */
export const goneMember = (chatId: ChatId): SettledMember => ({
  chatId,
  mark: null,
  retryAt: null,
  nickname: null,
  problems: [],
});
