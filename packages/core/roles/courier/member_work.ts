/** The work of couriers and sweeps on a single member. */
import { Effect, Metric, Option } from "effect";
import type { ChatId, GameId } from "../../ids.ts";
import type { RoleMember } from "../../platforms/chat_roles.ts";
import type { Millis } from "../../timestamp.ts";
import type { GroupRoles } from "../member_changes.ts";
import { MemberSync } from "../member_sync.ts";
import type { RolePlan } from "../role_plan.ts";
import type { SettledMember } from "../role_plan_store.ts";

const changes = Metric.counter("accountlink_role_changes_total", {
  description: "Changes of roles and nicknames, by outcome",
  incremental: true,
});

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
  const sync = yield* MemberSync;

  // Add 0, so that the counters are exported even before the first change.
  for (const outcome of outcomes) yield* count(outcome, 0);

  return {
    /**
     * Whether a sync would change the member's roles, the member's nickname, or the nickname that is stored for them.
     */
    differs: (
      plan: RolePlan,
      member: RoleMember,
      { gameId, nickname: stored }: StoredMember,
      known: GroupRoles,
    ) =>
      Effect.map(
        sync.compare(plan, member, gameId, stored, known),
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
