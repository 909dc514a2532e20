/** Changes single members, and counts the changes. */
import { Effect, Metric } from "effect";
import { placeOf } from "../../communities/community.ts";
import type { ChatId } from "../../ids.ts";
import type { Millis } from "../../timestamp.ts";
import type { Sources } from "../linked_game.ts";
import type { StoredMember } from "../member_changes.ts";
import { MemberSync } from "../member_sync.ts";
import { changesOf } from "../role_changes.ts";
import type { ChangeReason } from "../role_history_store.ts";
import type { RolePlan } from "../role_plan.ts";
import { RolePlanStore, type SettledMember } from "../role_plan_store.ts";

const changes = Metric.counter("accountlink_role_changes_total", {
  description: "Changes of roles and nicknames, by outcome",
  incremental: true,
});

export interface ChangeOptions {
  readonly sources: Sources;
  readonly because: ChangeReason;
  /** Runs before each change. */
  readonly pace?: Effect.Effect<void>;
}

export const makeChangeMember = Effect.gen(function* () {
  const sync = yield* MemberSync;

  // Add 0, so that the counters are exported even before the first change.
  for (const outcome of outcomes) yield* count(outcome, 0);

  /** Gives a member the roles and the nickname that the plan wants. Returns null if the user is not a member. */
  return Effect.fnUntraced(
    function* (
      plan: RolePlan,
      chatId: ChatId,
      stored: StoredMember,
      { pace, because, sources }: ChangeOptions,
    ) {
      const member = yield* sync.findMember(plan.guildId, chatId);
      if (member === null || member.isPending === true) return null;
      const wanted = yield* sync.compare(plan, member, stored, undefined, sources);
      const { added, removed, nickname: renamed, settled } = yield* sync.apply(plan, wanted, because, pace);
      yield* count("refused", settled.problems.length);
      yield* count("applied", added.length + removed.length + (renamed === null ? 0 : 1));
      return {
        settled,
        changes: changesOf({ added, removed, nickname: renamed }),
        /** Whether the nickname that is stored may differ from the one that was stored before. */
        wasStarted: wanted.setNickname.during !== null,
      };
    },
    Effect.tapErrorTag("PlatformUnavailable", () => count("unavailable", 1)),
  );
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

/** Returns a function that makes the result to store for a member whose change the platform did not answer. */
export const makeUnanswered = Effect.gen(function* () {
  const store = yield* RolePlanStore;
  return Effect.fnUntraced(function* (plan: RolePlan, chatId: ChatId, retryAt: Millis) {
    // Not the nickname from before the change: a new one may have been set.
    const nicknames = yield* store.nicknames(placeOf(plan), [chatId]);
    return { ...goneMember(chatId), retryAt, nickname: nicknames.get(chatId) ?? null };
  });
});
